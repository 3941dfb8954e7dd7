// Returns the visible content of the page as one object.
(() => {
  const shown = e => e.getClientRects().length > 0 && getComputedStyle(e).visibility === 'visible';
  const box = e => e.getBoundingClientRect();
  const all = (selector, within = document) => [...within.querySelectorAll(selector)].filter(shown);

  // Whether two boxes overlap by more than the margins of their letters.
  const overlap = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  const overlapping = svg => {
    const texts = all('text', svg);
    const pairs = [];
    texts.forEach((a, i) => texts.slice(i + 1).forEach(b => {
      if (overlap(box(a), box(b))) pairs.push(a.textContent + ' / ' + b.textContent);
    }));
    return pairs;
  };
  const outside = svg => all('text', svg).filter(t => {
    const a = box(t), s = box(svg);
    return a.left < s.left - 1 || a.right > s.right + 1 || a.top < s.top - 1 || a.bottom > s.bottom + 1;
  }).map(t => t.textContent);

  // Contrast as WCAG 2.1 defines it.
  const rgb = colour => {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 1;
    const context = canvas.getContext('2d', {willReadFrequently: true});
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const luminance = c => c.slice(0, 3)
    .map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = e => {
    for (let at = e; at; at = at.parentElement) {
      const c = rgb(getComputedStyle(at).backgroundColor);
      if (c[3] === 255) return c;
    }
    return [255, 255, 255, 255];
  };
  const contrast = e => {
    const svg = e instanceof SVGElement;
    const style = getComputedStyle(e);
    const [a, b] = [luminance(rgb(svg ? style.fill : style.color)), luminance(ground(e))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const written = all('body *').filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()));

  const charts = all('svg.chart');
  return {
    charts: charts.map(c => c.getAttribute('aria-label')),
    small: charts.filter(c => box(c).width < 200 || box(c).height < 120).map(c => c.getAttribute('aria-label')),
    // A line of one point has only its mark.
    undrawn: all('svg.chart g.series').filter(g => box(g).width < 4 && box(g).height < 4).length,
    bars: all('.bar i').length,
    overlapping: charts.flatMap(overlapping),
    outside: charts.flatMap(outside),
    tiny: all('svg text').filter(t => box(t).height < 9).map(t => t.textContent),
    faint: written.filter(e => contrast(e) < 4.5).map(e => e.textContent.slice(0, 40) + ' ' + contrast(e).toFixed(1)),
    // Tables of which a part can't be seen, without a word that says so.
    cut: all('.scroll').filter(d => d.scrollWidth > d.clientWidth + 1)
      .filter(d => all('.more', d).every(e => box(e).height < 12)).map(d => d.getAttribute('aria-label')),
    unlabelled: charts.filter(c => new Set(all('g.series .line', c).map(l => l.parentElement.getAttribute('class'))).size >
      (all('text.end', c).length || all('.legend li', c.parentElement).length)).map(c => c.getAttribute('aria-label')),
    tooWide: document.documentElement.scrollWidth - window.innerWidth,
    broken: [...document.querySelectorAll('a[href^="#"]')].filter(a => !document.querySelector(a.getAttribute('href'))).length,
  };
})()
