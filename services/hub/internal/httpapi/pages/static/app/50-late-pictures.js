// Loads pictures whose address is in data-src after the first paint, so that they do not delay it. The page has them in <noscript>
// for visitors without scripts.
const loadPictures = () => {
  for (const image of document.querySelectorAll('img[data-src]:not([src])')) image.src = image.dataset.src;
};

new PerformanceObserver(loadPictures).observe({ type: 'paint', buffered: true });
setTimeout(loadPictures, 1000); // a page in the background is not painted
