// Why the devices of a rank do not work: hatched gaps in its first row of devices, by the row of the account that has
// most of a gap. Each cause has a hatch of its own, so that no eye needs the colours.

// Of each cause its colour, its hatch and how far the lines are apart, and what it means.
page.causes = {
  dataloader: ['dataloader', '\\', 8, 'the loop waits for data'],
  blocked: ['bad', '-', 8, 'the host is in a call that waits for the device'],
  launch: ['runtime', '/', 8, 'the host launches'],
  queued: ['memcpy', '|', 8, 'work is launched and waits for another stream or rank'],
  'turn-around': ['soft', '.', 5, 'the next work was queued behind the last one'],
  'host-operator': ['cpu', 'x', 8, 'an operator takes the host long'],
  'host-call': ['runtime', 'x', 5, 'a call of the runtime takes the host long'],
  'host-code': ['host_code', '+', 8, 'Python alone'],
  idle: ['ink', '.', 8, 'the thread that launches does nothing that was recorded'],
  once: ['forward', '/', 5, 'an operator or call that most steps have not'],
  profiler: ['soft', '+', 5, 'the profiler works for itself'],
  capture: ['memset', '|', 5, 'a graph is captured'],
  outside: ['soft', '-', 5, 'before the first or after the last work'],
  'not-recorded': ['soft', '\\', 5, 'the launch is not in the traces'],
};

// A tile of a hatch, twice as large as it is drawn.
page.hatchTile = (cause) => {
  const [colour, hatch, size] = page.causes[cause];
  const tile = document.createElement('canvas');
  const end = 2 * size;
  [tile.width, tile.height] = [end, end];
  const context = tile.getContext('2d');
  context.strokeStyle = context.fillStyle = page.colours[colour];
  context.globalAlpha = .16;
  context.fillRect(0, 0, end, end);
  context.globalAlpha = 1;
  context.lineWidth = 2.5;
  const line = (...ends) => {
    context.moveTo(ends[0], ends[1]);
    context.lineTo(ends[2], ends[3]);
  };
  context.beginPath();
  // A slanting line also cuts the corners of the next tiles.
  const slant = (sign) => {
    for (const move of [-end, 0, end]) line(move - end, sign > 0 ? 2 * end : -end, move + 2 * end, sign > 0 ? -end : 2 * end);
  };
  if (hatch === '/' || hatch === 'x') slant(1);
  if (hatch === '\\' || hatch === 'x') slant(-1);
  if (hatch === '-' || hatch === '+') line(0, size, end, size);
  if (hatch === '|' || hatch === '+') line(size, 0, size, end);
  context.stroke();
  if (hatch === '.') context.fillRect(size - 2, size - 2, 4, 4);
  return tile;
};

// The gaps of a timeline; `legend` gets the causes that there are.
page.makeGaps = (facts, lists, names, legend) => {
  const ofRank = new Map(facts.ranks.map(({rank}, i) => [rank, lists[i]]));
  const causeOf = (list, i) => facts.causes[list.kind[i] & 31];
  const present = Object.keys(page.causes).filter((cause) =>
    lists.some((list) => list.kind.some((_, i) => causeOf(list, i) === cause)));
  let tiles = {};
  const marks = present.map((cause) => {
    const item = page.make('li', '', legend || undefined);
    const mark = page.make('canvas', undefined, item);
    mark.setAttribute('aria-hidden', 'true');
    mark.className = 'hatch';
    item.append(`no work: ${cause}`);
    item.title = page.causes[cause][3];
    return mark;
  });
  let colours = '';
  const prepare = () => {
    const now = Object.values(page.colours).join();
    if (now === colours) return;
    colours = now;
    tiles = Object.fromEntries(present.map((cause) => [cause, page.hatchTile(cause)]));
    present.forEach((cause, i) => {
      [marks[i].width, marks[i].height] = [40, 28];
      const context = marks[i].getContext('2d');
      context.fillStyle = context.createPattern(tiles[cause], 'repeat');
      context.fillRect(0, 0, 40, 28);
    });
  };
  // Its first row, if that is one of devices.
  const isShown = (row) => facts.rows.find((one) => one.rank === row.rank) === row && (ofRank.get(row.rank)?.start.length ?? 0) > 0;
  const describe = (list, i) => ({cause: causeOf(list, i), isMixed: (list.kind[i] & 32) > 0, start: list.start[i],
    length: list.end[i] - list.start[i], name: list.name[i] === 0 ? null : names[list.name[i] - 1]});
  // Calls use(place) for each gap of a row that meets a time.
  const forEach = (row, from, to, use) => {
    if (!isShown(row)) return;
    const list = ofRank.get(row.rank);
    const last = page.firstAt(list.start, to);
    for (let i = page.firstAt(list.start, from - list.longest); i < last; ++i) if (list.end[i] > from) use(list, i);
  };
  const draw = (context, row, view, x, left, width) => {
    prepare();
    const patterns = {};
    forEach(row, view.start, view.end, (list, i) => {
      const from = Math.max(left, x(list.start[i]));
      const to = Math.min(width, x(list.end[i]));
      if (to - from < 2) return;
      const cause = causeOf(list, i);
      if (!patterns[cause]) {
        patterns[cause] = context.createPattern(tiles[cause], 'repeat');
        patterns[cause].setTransform(new DOMMatrix().scale(.5));
      }
      context.fillStyle = patterns[cause];
      context.fillRect(from, row.y, to - from, row.line - 1);
    });
  };
  const inRow = (row, from, to) => {
    const found = [];
    forEach(row, from, to, (list, i) => found.push(describe(list, i)));
    return found;
  };
  return {draw, inRow, at: (row, time) => inRow(row, time, time + 1)[0] ?? null};
};

page.gapWords = (gap, row, from) => `no device works, ${gap.isMixed ? 'mostly ' : ''}${gap.cause}: ${page.causes[gap.cause]?.[3] ?? ''}${
  gap.name === null ? '' : ` (${gap.name})`}\n${row.label}: ${page.duration(gap.length)} from ${page.duration(from)}`;
