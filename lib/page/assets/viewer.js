
// A served page hands the merged trace to the viewer in another window. That needs no permission of the browser and no
// certain port, because the viewer asks nothing of this machine.
page.addViewer = () => {
  const button = document.querySelector('#viewer button');
  if (!button) return;
  const status = page.make('span', '', button.parentElement);
  status.setAttribute('role', 'status');
  const say = (text) => { status.textContent = ` ${text}`; };
  // What is posted before the viewer listens is lost, so it is asked until it answers.
  const answer = (opened, viewer) => new Promise((done, fail) => {
    const since = performance.now();
    const ask = setInterval(() => {
      if (!opened.closed && performance.now() - since < 60000) return opened.postMessage('PING', viewer);
      end();
      fail(new Error('The viewer did not answer within 60 s.'));
    }, 100);
    const hear = (event) => {
      if (event.source !== opened || event.origin !== viewer || event.data !== 'PONG') return;
      end();
      done();
    };
    const end = () => { clearInterval(ask); removeEventListener('message', hear); };
    addEventListener('message', hear);
  });
  // Opens the trace at a time, which is that of the merged trace, too: both count from the first event.
  page.openViewer = async (from, to) => {
    const {trace, viewer} = button.dataset;
    // In the click itself: what opens later is a pop-up.
    const opened = window.open(`${viewer}/#!/${from === undefined ? '' : `?visStart=${Math.round(from)}&visEnd=${Math.round(to)}`}`);
    if (!opened) return say('The browser has blocked the new window: allow it for this page, and click again.');
    say('Reading the trace.');
    try {
      const response = await fetch(trace);
      if (!response.ok) throw new Error(`The server says ${response.status}.`);
      const buffer = await response.arrayBuffer();
      say('Waiting for the viewer.');
      await answer(opened, viewer);
      const title = document.title.replace(/[^A-Za-z0-9.\-_#:/?=&;%+$ ]/g, '_');
      opened.postMessage({perfetto: {buffer, title, fileName: trace}}, viewer, [buffer]);
      say('The viewer has the trace.');
    } catch (error) {
      say(`${error.message} The link beside it is the other way.`);
    }
  };
  button.addEventListener('click', () => {
    const timeline = page.timelineOf();
    const view = timeline.view();
    if (timeline.isWhole()) page.openViewer();
    else page.openViewer(view.start, view.end);
  });
};
