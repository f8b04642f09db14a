/**
 * The bar's style, in the bar's own chunk, so that customers' pages do not load it. Other elements
 * at the top are placed below the bar.
 */
export const barStyle = `
.view-bar {
  position: sticky; top: 0; z-index: 40; display: flex; flex-wrap: wrap; align-items: center;
  gap: .125rem 1rem; padding: .5rem 1rem; color: #fff; background: #7a2e0e;
  font-size: .8125rem; line-height: 1.25rem;
}
.view-bar p { flex: 1 1 14rem; margin: 0; overflow-wrap: anywhere; }
.view-bar strong { font-weight: 600; }
.view-bar span { font-variant-numeric: tabular-nums; white-space: nowrap; }
.view-bar button {
  min-height: 2rem; padding: 0 .75rem; border: 1px solid rgb(255 255 255 / .6);
  border-radius: 8px; background: transparent; color: inherit; font: inherit; font-weight: 600;
  cursor: pointer;
}
.view-bar button:hover { background: rgb(255 255 255 / .15); }
.view-bar button:focus-visible { outline: 2px solid #fff; outline-offset: 2px; }
#root .sticky { top: var(--view-bar, 0px); }
#root .h-dvh { height: calc(100dvh - var(--view-bar, 0px)); }
@media (max-width: 40rem) {
  .view-bar p { flex-basis: 100%; }
  .view-bar span { flex: 1; }
}
@media (max-height: 26rem) { .view-bar { position: static; } #root .sticky { top: 0; } }
@media print { .view-bar { display: none; } }
`
