// Runs before the first paint. It is a separate file, because the pages are served with script-src
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
    // Storage may be blocked; then the defaults apply.
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
  // The boot skeleton shows the portal's frame only on pages that have it.
  root.dataset.bare =
    /^\/(login|register|check-otp|auth|pages|api|payments|invoice\/hosted)(\/|$)/.test(
      location.pathname,
    )
      ? '1'
      : ''
  // The page already names the files of the language's texts, so they are requested before the
  // program asks for them.
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
  // Requests the program's first reads while the program itself is loading; web/early-reads.ts uses
  // each response once.
  var token = null
  var held = null
  try {
    if (sessionStorage.getItem('isLockScreen') === 'true') return
    if (sessionStorage.getItem('isLogin') === '1') {
      token = sessionStorage.getItem('accessToken')
      held = JSON.parse(sessionStorage.getItem('session') || 'null')
    }
  } catch {
    // Without storage nobody is signed in here.
  }
  if (root.dataset.bare) return
  // Without a token the cookie identifies the session; a tab that knows of no session asks for it.
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
    // Prevents an unhandled rejection: whoever uses the response gets the failure.
    answers[address].catch(function () {})
  })
  window.__earlyReads = { credential: credential, answers: answers }
})()
