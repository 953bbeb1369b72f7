/* A load generator for MQTT brokers: publishers and subscribers in one thread, so that its own cost is small and the
 * same for every broker.
 *
 * The load is closed: a publisher runs ahead of what was delivered by a window at most, so that no broker is
 * tempted to drop. With --rate it is open: messages leave at that rate and their latencies are measured.
 *
 *   cc -O2 -o mqtt_load mqtt_load.c && ./mqtt_load --port 1883 --publishers 10 --subscribers 10 --messages 100000
 *
 * Prints one line of JSON.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 1 << 18, BATCH = 64, PATTERNS_A_PACKET = 100 };

static struct {
    int port, publishers, subscribers, qos, payload, window, wildcards;
    long messages;
    double rate, timeout;
} asked = {1883, 1, 1, 0, 64, 500, 0, 100000, 0, 60};

typedef struct {
    int fd, number;
    bool is_publisher, is_ready;
    uint8_t *in, *out;
    size_t in_size, out_start, out_size, out_room;
    uint16_t next_id;
    int unacknowledged, subacks;
    long published;
} Client;

static Client *clients;
static int client_count, ready_count, epoll_fd;
static long delivered, published, wanted_deliveries;
static uint64_t *latencies;
static long latency_count;

static void fail(const char *what) {
    fprintf(stderr, "mqtt_load: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
    exit(1);
}

static uint64_t now_ns(void) {
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return (uint64_t)moment.tv_sec * 1000000000u + (uint64_t)moment.tv_nsec;
}

/* ── packets out ─────────────────────────────────────────────────────────────────────── */

static uint8_t *room_for(Client *client, size_t size) {
    if (client->out_start == client->out_size) client->out_start = client->out_size = 0;
    if (client->out_size + size > client->out_room) {
        memmove(client->out, client->out + client->out_start, client->out_size - client->out_start);
        client->out_size -= client->out_start;
        client->out_start = 0;
        while (client->out_size + size > client->out_room) client->out_room *= 2;
        client->out = realloc(client->out, client->out_room);
        if (!client->out) fail("no memory");
    }
    return client->out + client->out_size;
}

static uint8_t *put_length(uint8_t *at, size_t length) {
    do {
        uint8_t digit = length & 0x7f;
        length >>= 7;
        *at++ = digit | (length ? 0x80 : 0);
    } while (length);
    return at;
}

static uint8_t *put_u16(uint8_t *at, unsigned value) {
    *at++ = (uint8_t)(value >> 8);
    *at++ = (uint8_t)value;
    return at;
}

static uint8_t *put_text(uint8_t *at, const char *text) {
    size_t length = strlen(text);
    at = put_u16(at, (unsigned)length);
    memcpy(at, text, length);
    return at + length;
}

static void send_connect(Client *client) {
    char name[40];
    snprintf(name, sizeof name, "load-%d-%d", (int)getpid(), client->number);
    uint8_t *start = room_for(client, 128), *at = start;
    *at++ = 0x10;
    at = put_length(at, 10 + 2 + strlen(name));
    at = put_text(at, "MQTT");
    *at++ = 4;    /* 3.1.1 */
    *at++ = 0x02; /* clean session */
    at = put_u16(at, 0);
    at = put_text(at, name);
    client->out_size += (size_t)(at - start);
}

static void send_subscribe(Client *client, int first, int count) {
    char pattern[64];
    uint8_t *start = room_for(client, (size_t)count * 64 + 16), *body = start + 5, *at = put_u16(body, ++client->next_id);
    for (int each = first; each < first + count; each++) {
        if (asked.wildcards) snprintf(pattern, sizeof pattern, "bench/%d/+", each);
        else snprintf(pattern, sizeof pattern, "bench/%d", each);
        at = put_text(at, pattern);
        *at++ = (uint8_t)asked.qos;
    }
    size_t length = (size_t)(at - body);
    *start = 0x82;
    uint8_t *after = put_length(start + 1, length);
    memmove(after, body, length);
    client->out_size += (size_t)(after - start) + length;
    client->subacks++;
}

/* Topic i goes to subscriber i; with fewer publishers than subscribers all listen to topic 0. */
static int topic_of(Client *client) {
    return asked.publishers == asked.subscribers ? client->number % asked.publishers : 0;
}

static void subscribe(Client *client) {
    if (!asked.wildcards) {
        send_subscribe(client, topic_of(client), 1);
        return;
    }
    for (int at = 0; at < asked.wildcards; at += PATTERNS_A_PACKET)
        send_subscribe(client, at, asked.wildcards - at < PATTERNS_A_PACKET ? asked.wildcards - at : PATTERNS_A_PACKET);
}

static void send_publish(Client *client) {
    char topic[64];
    if (asked.wildcards)
        snprintf(topic, sizeof topic, "bench/%ld/x", client->published * 7919 % asked.wildcards);
    else
        snprintf(topic, sizeof topic, "bench/%d", topic_of(client));
    size_t payload = (size_t)(asked.payload < 8 ? 8 : asked.payload);
    size_t length = 2 + strlen(topic) + (asked.qos ? 2 : 0) + payload;
    uint8_t *start = room_for(client, length + 8), *at = start;
    *at++ = (uint8_t)(0x30 | asked.qos << 1);
    at = put_length(at, length);
    at = put_text(at, topic);
    if (asked.qos) {
        if (!++client->next_id) client->next_id = 1;
        at = put_u16(at, client->next_id);
        client->unacknowledged++;
    }
    uint64_t moment = now_ns();
    memcpy(at, &moment, 8);
    memset(at + 8, 'x', payload - 8);
    client->out_size += (size_t)(at - start) + payload;
    client->published++;
    published++;
}

/* ── packets in ──────────────────────────────────────────────────────────────────────── */

static void take_publish(Client *client, uint8_t head, const uint8_t *body, size_t length) {
    size_t topic = (size_t)(body[0] << 8 | body[1]), at = 2 + topic;
    int qos = head >> 1 & 3;
    if (qos) {
        uint8_t *answer = room_for(client, 4);
        answer[0] = 0x40, answer[1] = 2, answer[2] = body[at], answer[3] = body[at + 1];
        client->out_size += 4;
        at += 2;
    }
    if (length < at + 8) fail("a message is shorter than what was sent");
    if (latencies && latency_count < wanted_deliveries) {
        uint64_t moment;
        memcpy(&moment, body + at, 8);
        latencies[latency_count++] = now_ns() - moment;
    }
    delivered++;
}

static void take(Client *client, uint8_t head, const uint8_t *body, size_t length) {
    switch (head >> 4) {
    case 2:
        if (body[1]) fail("the broker refused a connection");
        if (client->is_publisher) client->is_ready = true, ready_count++;
        else subscribe(client);
        break;
    case 3: take_publish(client, head, body, length); break;
    case 4: client->unacknowledged--; break;
    case 9:
        for (size_t at = 2; at < length; at++)
            if (body[at] & 0x80) fail("the broker refused a subscription");
        if (!--client->subacks) client->is_ready = true, ready_count++;
        break;
    default: fail("a packet that was not asked for");
    }
}

static void parse(Client *client) {
    size_t at = 0;
    for (;;) {
        size_t length = 0, digits = 0;
        bool is_whole = false;
        while (at + 1 + digits < client->in_size && digits < 4) {
            uint8_t digit = client->in[at + 1 + digits];
            length |= (size_t)(digit & 0x7f) << (7 * digits++);
            if (!(digit & 0x80)) { is_whole = true; break; }
        }
        if (!is_whole || at + 1 + digits + length > client->in_size) break;
        take(client, client->in[at], client->in + at + 1 + digits, length);
        at += 1 + digits + length;
    }
    memmove(client->in, client->in + at, client->in_size - at);
    client->in_size -= at;
}

/* ── sockets ─────────────────────────────────────────────────────────────────────────── */

static void flush(Client *client) {
    while (client->out_start < client->out_size) {
        ssize_t wrote = send(client->fd, client->out + client->out_start, client->out_size - client->out_start, MSG_NOSIGNAL);
        if (wrote < 0 && errno == EAGAIN) break;
        if (wrote < 0) fail("send");
        client->out_start += (size_t)wrote;
    }
    struct epoll_event event = {.events = EPOLLIN | (client->out_start < client->out_size ? EPOLLOUT : 0), .data.ptr = client};
    static uint32_t *known;
    if (!known) known = calloc((size_t)client_count, sizeof *known);
    uint32_t *last = &known[client - clients];
    if (*last != event.events) epoll_ctl(epoll_fd, EPOLL_CTL_MOD, client->fd, &event), *last = event.events;
}

static void receive(Client *client) {
    ssize_t got = recv(client->fd, client->in + client->in_size, CHUNK - client->in_size, 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) fail("the broker closed a connection");
    client->in_size += (size_t)got;
    parse(client);
}

static void open_client(Client *client, int number, bool is_publisher) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)asked.port)};
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    *client = (Client){.number = number, .is_publisher = is_publisher, .out_room = 1 << 16};
    client->in = malloc(CHUNK);
    client->out = malloc(client->out_room);
    client->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(client->fd, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
    int yes = 1;
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    fcntl(client->fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, client->fd, &event);
    send_connect(client);
}

static void turn(int timeout_ms) {
    struct epoll_event events[256];
    int count = epoll_wait(epoll_fd, events, 256, timeout_ms);
    for (int each = 0; each < count; each++)
        if (events[each].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(events[each].data.ptr);
    for (int each = 0; each < client_count; each++)
        if (clients[each].out_start < clients[each].out_size) flush(&clients[each]);
}

/* ── the run ─────────────────────────────────────────────────────────────────────────── */

static long per_publisher(void) { return asked.messages / asked.publishers; }

static void publish_what_fits(uint64_t start) {
    long fan_out = wanted_deliveries / (per_publisher() * asked.publishers);
    long ahead = (long)asked.window * asked.publishers;
    double due = asked.rate > 0 ? (double)(now_ns() - start) / 1e9 * asked.rate : 0;
    for (int each = 0; each < client_count; each++) {
        Client *client = &clients[each];
        if (!client->is_publisher) continue;
        for (int sent = 0; sent < BATCH && client->published < per_publisher(); sent++) {
            bool is_due = asked.rate > 0 ? (double)published < due : published - delivered / fan_out < ahead;
            if (!is_due || client->unacknowledged >= asked.window || client->out_size > CHUNK) break;
            send_publish(client);
        }
    }
}

static int by_size(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static double microseconds_at(double share) {
    return latency_count ? (double)latencies[(long)((double)(latency_count - 1) * share)] / 1e3 : 0;
}

static void report(double seconds) {
    printf("{\"published\": %ld, \"delivered\": %ld, \"wanted\": %ld, \"seconds\": %.4f, \"rate\": %.0f", published, delivered,
           wanted_deliveries, seconds, (double)delivered / seconds);
    if (latencies) {
        qsort(latencies, (size_t)latency_count, sizeof *latencies, by_size);
        printf(", \"p50_us\": %.0f, \"p90_us\": %.0f, \"p99_us\": %.0f, \"p999_us\": %.0f, \"max_us\": %.0f", microseconds_at(0.5),
               microseconds_at(0.9), microseconds_at(0.99), microseconds_at(0.999), microseconds_at(1.0));
    }
    printf("}\n");
}

static void read_options(int count, char **given) {
    for (int each = 1; each + 1 < count; each += 2) {
        const char *name = given[each], *value = given[each + 1];
        if (!strcmp(name, "--port")) asked.port = atoi(value);
        else if (!strcmp(name, "--publishers")) asked.publishers = atoi(value);
        else if (!strcmp(name, "--subscribers")) asked.subscribers = atoi(value);
        else if (!strcmp(name, "--messages")) asked.messages = atol(value);
        else if (!strcmp(name, "--qos")) asked.qos = atoi(value);
        else if (!strcmp(name, "--payload")) asked.payload = atoi(value);
        else if (!strcmp(name, "--window")) asked.window = atoi(value);
        else if (!strcmp(name, "--wildcards")) asked.wildcards = atoi(value);
        else if (!strcmp(name, "--rate")) asked.rate = atof(value);
        else if (!strcmp(name, "--timeout")) asked.timeout = atof(value);
        else { errno = 0; fprintf(stderr, "unknown option %s\n", name); exit(2); }
    }
}

int main(int count, char **given) {
    read_options(count, given);
    epoll_fd = epoll_create1(0);
    client_count = asked.publishers + asked.subscribers;
    clients = calloc((size_t)client_count, sizeof *clients);
    for (int each = 0; each < asked.subscribers; each++) open_client(&clients[each], each, false);
    for (int each = 0; each < asked.publishers; each++) open_client(&clients[asked.subscribers + each], each + asked.subscribers, true);
    uint64_t limit = now_ns() + (uint64_t)(asked.timeout * 1e9);
    while (ready_count < client_count && now_ns() < limit) turn(100);
    errno = 0;
    if (ready_count < client_count) fail("not all clients got ready in time");
    int copies = asked.publishers == asked.subscribers ? 1 : asked.subscribers;
    wanted_deliveries = per_publisher() * asked.publishers * copies;
    if (asked.rate > 0) latencies = malloc((size_t)wanted_deliveries * sizeof *latencies);
    uint64_t start = now_ns();
    limit = start + (uint64_t)(asked.timeout * 1e9);
    while (delivered < wanted_deliveries && now_ns() < limit) {
        publish_what_fits(start);
        turn(asked.rate > 0 ? 1 : 0);
    }
    report((double)(now_ns() - start) / 1e9);
    return delivered == wanted_deliveries ? 0 : 3;
}
