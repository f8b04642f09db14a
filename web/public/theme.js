// Runs before the first paint. A file of its own, because the pages are served with script-src 'self'.
;(function () {
  var root = document.documentElement
  // zod would otherwise probe `new Function`, which the same policy reports as a violation.
  window.__zod_globalConfig = { jitless: true }
  var theme = 'system'
  var language = ''
  try {
    theme = localStorage.getItem('theme') || 'system'
    language = localStorage.getItem('language') || ''
  } catch {
    // Storage may be closed to us: the defaults hold.
  }
  var dark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  root.classList.toggle('dark', dark)
  root.dataset.theme = theme
  if (!/^(en|vi|aud)$/.test(language)) {
    var first = (navigator.language || 'en').toLowerCase()
    language = first.indexOf('vi') === 0 ? 'vi' : first === 'en-au' ? 'aud' : 'en'
  }
  root.lang = language === 'aud' ? 'en-AU' : language
  // The boot skeleton draws the portal's frame only where that frame will appear.
  root.dataset.bare = /^\/(login|register|check-otp|auth|pages|api|invoice\/hosted)(\/|$)/.test(location.pathname) ? '1' : ''
  // The language file is known here already, long before the program asks for it.
  var meta = document.querySelector('meta[name="language-files"]')
  var file = meta && JSON.parse(meta.content)[language]
  if (file) {
    var link = document.createElement('link')
    link.rel = 'modulepreload'
    link.href = file
    document.head.appendChild(link)
  }
})()
