// Runs before the first paint. It is a separate file, because pages are served with script-src
// 'self'.
;(function () {
  var root = document.documentElement
  // zod would otherwise probe `new Function`, which the same policy reports as a violation.
  window.__zod_globalConfig = { jitless: true }
  var theme = 'system'
  var language = ''
  try {
    theme = localStorage.getItem('theme') || 'system'
    language = localStorage.getItem('language') || navigator.language || ''
  } catch {
    // Storage may be blocked; then the defaults apply.
  }
  var dark =
    theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  root.classList.toggle('dark', dark)
  root.dataset.theme = theme
  root.lang = language.toLowerCase().indexOf('vi') === 0 ? 'vi' : 'en'
})()
