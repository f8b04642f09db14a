/*
 * The part of Stripe.js that a portal uses. The card's number is typed into a frame of this origin
 * and never reaches the page.
 */
;(() => {
  const origin = new URL(document.currentScript.src).origin

  /* Opens a frame, and a private message channel to it. */
  function open(path, style, onEvent = () => {}) {
    const frame = document.createElement('iframe')
    frame.src = origin + path
    frame.title = 'Secure payment input frame'
    Object.assign(frame.style, { border: '0', width: '100%', ...style })
    const line = new MessageChannel()
    const waiting = new Map()
    let last = 0
    line.port1.onmessage = ({ data }) => {
      if (data.reply === undefined) return onEvent(data.event, data.value)
      waiting.get(data.reply)?.(data.value)
      waiting.delete(data.reply)
    }
    const loaded = new Promise((resolve) =>
      frame.addEventListener(
        'load',
        () => {
          frame.contentWindow.postMessage('stripe', origin, [line.port2])
          resolve()
        },
        { once: true },
      ),
    )
    const ask = (op, value) =>
      loaded.then(
        () =>
          new Promise((resolve) => {
            waiting.set(++last, resolve)
            line.port1.postMessage({ id: last, op, value })
          }),
      )
    return { frame, ask }
  }

  /* Shows the bank's page over everything until the person has decided. */
  function challenge(intent) {
    return new Promise((resolve) => {
      const query = new URLSearchParams({ intent: intent.id, client_secret: intent.client_secret })
      const { frame } = open(
        `/stripe/3ds?${query}`,
        {
          position: 'fixed',
          inset: '0',
          height: '100%',
          zIndex: '2147483647',
          background: 'rgb(0 0 0 / .5)',
        },
        (event) => {
          if (event !== 'done') return
          frame.remove()
          resolve()
        },
      )
      frame.title = '3-D Secure'
      document.body.append(frame)
    })
  }

  window.Stripe = function Stripe(key) {
    let controller
    const ask = (op, value) => {
      if (!controller) {
        controller = open('/stripe/v3/controller', { display: 'none' })
        controller.frame.title = 'Stripe'
        controller.frame.setAttribute('aria-hidden', 'true')
        document.body.append(controller.frame)
      }
      return controller.ask(op, { key, ...value })
    }
    async function finish(result) {
      const intent = result.setupIntent ?? result.paymentIntent
      if (intent?.status !== 'requires_action') return result
      await challenge(intent)
      const now = await ask('retrieve', { clientSecret: intent.client_secret })
      const settled = now.setupIntent ?? now.paymentIntent
      const failure = settled?.last_setup_error ?? settled?.last_payment_error
      return settled?.status === 'requires_payment_method' && failure ? { error: failure } : now
    }

    function elements(options = {}) {
      let card
      const listeners = {}
      const tell = (event, value) => (listeners[event] ?? []).forEach((listener) => listener(value))
      return {
        create(type) {
          let late
          const element = {
            on(event, listener) {
              ;(listeners[event] ??= []).push(listener)
              return element
            },
            off(event) {
              delete listeners[event]
              return element
            },
            mount(target) {
              const place = typeof target === 'string' ? document.querySelector(target) : target
              card = open(
                '/stripe/v3/card',
                { display: 'block', height: '240px' },
                (event, value) => {
                  if (event === 'resize') card.frame.style.height = `${value}px`
                  else {
                    if (event === 'ready') clearTimeout(late)
                    tell(event, value)
                  }
                },
              )
              late = setTimeout(
                () =>
                  tell('loaderror', { elementType: type, error: { type: 'api_connection_error' } }),
                15000,
              )
              place.replaceChildren(card.frame)
              void card.ask('dress', { appearance: options.appearance, locale: options.locale })
            },
            unmount() {
              clearTimeout(late)
              card?.frame.remove()
              card = undefined
            },
            destroy() {
              element.unmount()
            },
            update() {},
            focus() {
              card?.frame.focus()
            },
          }
          return element
        },
        update(changes) {
          Object.assign(options, changes)
          if (changes.appearance || changes.locale)
            void card?.ask('dress', { appearance: options.appearance, locale: options.locale })
        },
        submit: async () =>
          card ? card.ask('check', {}) : { error: { type: 'validation_error' } },
        _confirm: (clientSecret) =>
          card.ask('confirm', { key, clientSecret: clientSecret ?? options.clientSecret }),
      }
    }

    const confirmWith = async ({ elements: group, clientSecret }) =>
      finish(await group._confirm(clientSecret))
    const confirmSaved = async (clientSecret, data = {}) =>
      finish(
        await ask('confirm', {
          clientSecret,
          method: typeof data.payment_method === 'string' ? data.payment_method : undefined,
        }),
      )
    return {
      elements,
      confirmSetup: confirmWith,
      confirmPayment: confirmWith,
      confirmCardSetup: confirmSaved,
      confirmCardPayment: confirmSaved,
      retrieveSetupIntent: (clientSecret) => ask('retrieve', { clientSecret }),
      retrievePaymentIntent: (clientSecret) => ask('retrieve', { clientSecret }),
      createToken: async () => ({
        error: { type: 'invalid_request_error', message: 'Not part of the sandbox.' },
      }),
      createPaymentMethod: async () => ({
        error: { type: 'invalid_request_error', message: 'Not part of the sandbox.' },
      }),
      _registerWrapper() {},
      registerAppInfo() {},
    }
  }
  window.Stripe.version = 'endive'
})()
