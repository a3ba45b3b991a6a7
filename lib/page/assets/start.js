// The page is shown by what all modules before this one have.
page.start = () => {
  document.body.classList.add('tabs');
  for (const element of document.querySelectorAll('[data-script]')) element.hidden = false;
  page.readColours();
  page.addTheme();
  page.addSearch();
  page.addViewer();
  document.querySelectorAll('canvas.heat-map').forEach(page.addHeatMap);
  document.querySelectorAll('canvas.flame').forEach(page.addFlame);
  document.querySelectorAll('canvas.timeline').forEach(page.addTimeline);
  const both = [page.timelines.base, page.timelines.new].filter((one) => one !== undefined);
  if (both.length > 1) {
    const most = Math.max(...both.map((one) => one.view().end - one.view().start));
    for (const one of both) one.begin(most);
  }
  // Links need to know which names a timeline has, and sorting reads what a cell says.
  page.addLinks();
  page.addTables();
  addEventListener('hashchange', page.follow);
  addEventListener('resize', page.redraw);
  page.followPrint();
  page.follow();
};

page.start();
