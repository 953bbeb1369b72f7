<?php
// The peer: a heap of deadlines with two maps (key → data, key → its entry), lazily cleaned.
// Usage: php deferred_heap.php FILE ordered|unordered, where FILE has "key deadline" lines.
//
//   ordered     equal deadlines leave in the order in which they were pushed, as ours do
//   unordered   they leave in any order: PHP's fastest form, but not the same meaning
//
// Pushes all lines, evicts one by one in order; prints the seconds of both, and the items.
ini_set('memory_limit', '-1');

final class Ordered {
    private $heap, $data = [], $entries = [], $last = 0;

    public function __construct() { $this->heap = new SplMinHeap(); }

    public function push($key, $value, $deadline) {
        $this->data[$key] = $value;
        if (isset($this->entries[$key]) && $this->entries[$key][0] === $deadline) return;
        $this->entries[$key] = $entry = [$deadline, ++$this->last, $key];
        $this->heap->insert($entry);
    }

    public function evict($now) {
        while (!$this->heap->isEmpty()) {
            [$deadline, $number, $key] = $this->heap->top();
            if (!isset($this->entries[$key]) || $this->entries[$key][1] !== $number) { $this->heap->extract(); continue; }
            if ($deadline > $now) return null;
            $this->heap->extract();
            $value = $this->data[$key];
            unset($this->data[$key], $this->entries[$key]);
            return [$key, $value, $deadline];
        }
        return null;
    }
}

final class Unordered {
    private $heap, $data = [], $deadlines = [];

    public function __construct() {
        $this->heap = new SplPriorityQueue();
        $this->heap->setExtractFlags(SplPriorityQueue::EXTR_BOTH);
    }

    public function push($key, $value, $deadline) {
        $this->data[$key] = $value;
        if (($this->deadlines[$key] ?? null) === $deadline) return;
        $this->deadlines[$key] = $deadline;
        $this->heap->insert($key, -$deadline);
    }

    public function evict($now) {
        while (!$this->heap->isEmpty()) {
            $top = $this->heap->top();
            $key = $top['data'];
            $deadline = -$top['priority'];
            if (($this->deadlines[$key] ?? null) !== $deadline) { $this->heap->extract(); continue; }
            if ($deadline > $now) return null;
            $this->heap->extract();
            $value = $this->data[$key];
            unset($this->data[$key], $this->deadlines[$key]);
            return [$key, $value, $deadline];
        }
        return null;
    }
}

$keys = [];
$deadlines = [];
foreach (new SplFileObject($argv[1]) as $line) {
    if ($line === '' || $line === false) continue;
    [$keys[], $deadline] = explode(' ', rtrim($line));
    $deadlines[] = (float) $deadline;
}
$queue = $argv[2] === 'ordered' ? new Ordered() : new Unordered();
$start = hrtime(true);
foreach ($keys as $i => $key) $queue->push($key, 'payload', $deadlines[$i]);
$pushed = hrtime(true);
$items = 0;
while ($queue->evict(INF) !== null) $items++;
$end = hrtime(true);
printf("%.6f %.6f %d\n", ($pushed - $start) / 1e9, ($end - $pushed) / 1e9, $items);
