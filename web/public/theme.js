// Runs before the first paint. A file of its own, because the pages are served with script-src
// 'self'.
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
  var dark =
    theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  root.classList.toggle('dark', dark)
  root.dataset.theme = theme
  if (!/^(en|vi|aud)$/.test(language)) {
    var first = (navigator.language || 'en').toLowerCase()
    language = first === 'en-au' ? 'aud' : 'en'
    if (first.indexOf('vi') === 0) language = 'vi'
  }
  root.lang = language === 'aud' ? 'en-AU' : language
  // The boot skeleton draws the portal's frame only where that frame will appear.
  root.dataset.bare =
    /^\/(login|register|check-otp|auth|pages|api|payments|invoice\/hosted)(\/|$)/.test(
      location.pathname,
    )
      ? '1'
      : ''
  // The files of its texts are known here already, long before the program asks for them.
  function filesOf(name) {
    var meta = document.querySelector('meta[name="' + name + '"]')
    return (meta && JSON.parse(meta.content)[language]) || []
  }
  ;[].concat(filesOf('language-files'), filesOf('text-files')).forEach(function (file) {
    var link = document.createElement('link')
    link.rel = 'modulepreload'
    link.href = file
    document.head.appendChild(link)
  })
  // What the program will read first is asked for while the program itself is on its way;
  // web/early-reads.ts takes each answer once.
  var token = null
  var held = null
  try {
    if (sessionStorage.getItem('isLockScreen') === 'true') return
    if (sessionStorage.getItem('isLogin') === '1') {
      token = sessionStorage.getItem('accessToken')
      held = JSON.parse(sessionStorage.getItem('session') || 'null')
    }
  } catch {
    // Then nobody is signed in here.
  }
  if (root.dataset.bare) return
  // Without a token the cookie says whose calls they are; a tab that knows of none asks for it.
  var credential = token || (held && held.csrfToken) || null
  var addresses = credential
    ? ['/api/v1/auth/me', '/api/config']
    : ['/api/v1/auth/session', '/api/config']
  if (credential && location.pathname === '/')
    addresses.push(
      '/api/payments/stripe?limit=100',
      '/api/payments/stripe/invoices?limit=50',
      '/api/wp?limit=20',
      '/api/wallet/runway',
      '/api/payments/stripe/invoices/unpaid',
    )
  var headers = {
    Accept: 'application/json',
    'Accept-Language': language === 'vi' ? 'vi' : 'en',
  }
  if (token) headers.Authorization = 'Bearer ' + token
  var answers = {}
  addresses.forEach(function (address) {
    answers[address] = fetch(address, { headers: headers })
    // Whoever takes it hears of a failure; nobody else has to.
    answers[address].catch(function () {})
  })
  window.__earlyReads = { credential: credential, answers: answers }
})()
