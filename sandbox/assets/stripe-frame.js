/*
 * Inside the frames: the card form, the calls to the API, the bank's challenge. Everything stays on
 * this origin.
 */
let line
const tell = (event, value) => line?.postMessage({ event, value })

async function call(key, path, fields, method = 'POST') {
  const body = new URLSearchParams(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  )
  try {
    const answer = await fetch(method === 'GET' ? `${path}?${body}` : path, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(method === 'POST' && { body }),
    })
    return await answer.json()
  } catch {
    return {
      error: {
        type: 'api_connection_error',
        message: 'We are experiencing issues connecting to our payments provider.',
      },
    }
  }
}
const idOf = (secret) => secret.split('_secret_')[0]
const pathOf = (secret) =>
  `/v1/${secret.startsWith('pi_') ? 'payment_intents' : 'setup_intents'}/${idOf(secret)}`
const result = (answer) =>
  answer.error
    ? { error: answer.error }
    : answer.object === 'payment_intent'
      ? { paymentIntent: answer }
      : { setupIntent: answer }

const form = document.querySelector('#card')
const texts = {
  en: {
    number: 'Card number',
    expiry: 'Expiration date',
    cvc: 'Security code',
    faults: {
      number: 'Your card number is incomplete.',
      wrong: 'Your card number is invalid.',
      expiry: 'Your card’s expiration date is incomplete.',
      past: 'Your card’s expiration year is in the past.',
      cvc: 'Your card’s security code is incomplete.',
    },
  },
  vi: {
    number: 'Số thẻ',
    expiry: 'Ngày hết hạn',
    cvc: 'Mã bảo mật',
    faults: {
      number: 'Số thẻ chưa đầy đủ.',
      wrong: 'Số thẻ không hợp lệ.',
      expiry: 'Ngày hết hạn chưa đầy đủ.',
      past: 'Thẻ đã hết hạn.',
      cvc: 'Mã bảo mật chưa đầy đủ.',
    },
  },
}
let words = texts.en
const field = (name) => document.getElementById(name)
const digits = (name) => field(name).value.replaceAll(/\D/g, '')
const luhn = (number) =>
  [...number].reverse().reduce((sum, digit, index) => {
    const value = Number(digit) * (index % 2 ? 2 : 1)
    return sum + (value > 9 ? value - 9 : value)
  }, 0) %
    10 ===
  0

function faultOf(name) {
  const text = digits(name)
  if (name === 'number')
    return text.length < 14 ? words.faults.number : luhn(text) ? '' : words.faults.wrong
  if (name === 'cvc') return text.length < 3 ? words.faults.cvc : ''
  const month = Number(text.slice(0, 2))
  if (text.length !== 4 || month < 1 || month > 12) return words.faults.expiry
  const now = new Date()
  const end = new Date(2000 + Number(text.slice(2)), month, 1)
  return end <= now ? words.faults.past : ''
}
function show(name, fault) {
  field(`${name}-fault`).textContent = fault
  field(name).setAttribute('aria-invalid', String(fault !== ''))
  size()
}
const names = ['number', 'expiry', 'cvc']
function check() {
  for (const name of names) show(name, faultOf(name))
  const wrong = names.find((name) => faultOf(name) !== '')
  if (wrong) field(wrong).focus()
  return wrong
    ? { error: { type: 'validation_error', code: `incomplete_${wrong}`, message: faultOf(wrong) } }
    : {}
}
const size = () => tell('resize', document.querySelector('main').scrollHeight)

const operations = {
  dress({ appearance = {}, locale }) {
    words = texts[locale] ?? texts.en
    document.documentElement.lang = texts[locale] ? locale : 'en'
    for (const name of names) document.querySelector(`label[for=${name}]`).textContent = words[name]
    document.documentElement.dataset.theme = appearance.theme ?? 'stripe'
    for (const [name, value] of Object.entries(appearance.variables ?? {}))
      document.documentElement.style.setProperty(`--${name}`, value)
    size()
  },
  check,
  async confirm({ key, clientSecret, method }) {
    let card = method
    if (form) {
      const wrong = check()
      if (wrong.error) return wrong
      const made = await call(key, '/v1/payment_methods', {
        type: 'card',
        'card[number]': digits('number'),
        'card[exp_month]': digits('expiry').slice(0, 2),
        'card[exp_year]': `20${digits('expiry').slice(2)}`,
        'card[cvc]': digits('cvc'),
      })
      if (made.error) return { error: made.error }
      card = made.id
    }
    return result(
      await call(key, `${pathOf(clientSecret)}/confirm`, {
        client_secret: clientSecret,
        payment_method: card,
      }),
    )
  },
  retrieve: async ({ key, clientSecret }) =>
    result(await call(key, pathOf(clientSecret), { client_secret: clientSecret }, 'GET')),
}

addEventListener('message', ({ data, ports, source }) => {
  if (line || data !== 'stripe' || source !== parent) return
  line = ports[0]
  line.onmessage = async ({ data: call }) =>
    line.postMessage({ reply: call.id, value: (await operations[call.op]?.(call.value)) ?? null })
  tell('ready', {})
})

if (form) {
  const shapes = {
    number: (text) => text.slice(0, 19).replaceAll(/(\d{4})(?=\d)/g, '$1 '),
    expiry: (text) => (text.length > 2 ? `${text.slice(0, 2)} / ${text.slice(2, 4)}` : text),
    cvc: (text) => text.slice(0, 4),
  }
  for (const name of names) {
    field(name).addEventListener('input', () => {
      field(name).value = shapes[name](digits(name))
      if (faultOf(name) === '') show(name, '')
      tell('change', {
        complete: names.every((each) => faultOf(each) === ''),
        empty: names.every((each) => digits(each) === ''),
      })
    })
    field(name).addEventListener('blur', () => digits(name) !== '' && show(name, faultOf(name)))
  }
  form.addEventListener('submit', (event) => event.preventDefault())
  new ResizeObserver(size).observe(document.querySelector('main'))
}

const bank = document.querySelector('.challenge')
if (bank) {
  for (const button of bank.querySelectorAll('button')) {
    button.addEventListener('click', async () => {
      for (const each of bank.querySelectorAll('button')) each.disabled = true
      const { intent, secret } = bank.dataset
      await fetch('/stripe/3ds', {
        method: 'POST',
        body: new URLSearchParams({
          intent,
          client_secret: secret,
          outcome: button.dataset.outcome,
        }),
      }).catch(() => {})
      tell('done', {})
    })
  }
  bank.querySelector('button').focus()
}
