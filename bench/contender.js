// wild-pare in a process of its own; speaks the lines of contender.py.
'use strict';
const PareTree = require('wild-pare');
const tree = new PareTree({mode: 'wildstring'});
const ids = [];
const SUBSCRIBERS = 9973;

function insert(patterns) {
  for (const pattern of patterns) {
    const n = ids.length;
    ids.push(tree.add(pattern, {key: `client-${n % SUBSCRIBERS}`, data: {n}}).id);
  }
  return 0;
}

function remove(places) {
  for (const place of places) tree.remove({id: ids[place]});
  return 0;
}

function match(topics) {
  let found = 0;
  for (const topic of topics) found += tree.search(topic).length;
  return found;
}

const WORK = {
  insert: (request) => [insert, request.patterns],
  remove: (request) => [remove, request.places],
  match: (request) => [match, request.topics],
};

function answer(request) {
  if (request.do === 'settle') {
    if (global.gc) global.gc();
    return {bytes: process.memoryUsage().rss};
  }
  const [work, items] = WORK[request.do](request);
  const start = process.hrtime.bigint();
  const cpu = process.cpuUsage();
  const found = work(items);
  const {user, system} = process.cpuUsage(cpu);
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  return {seconds, cpu: (user + system) / 1e6, count: items.length, found};
}

let parts = [];
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  const lines = chunk.split('\n');
  while (lines.length > 1) {
    const line = parts.join('') + lines.shift();
    parts = [];
    process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + '\n');
  }
  parts.push(lines[0]);
});
