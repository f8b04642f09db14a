/** Acts on the stand-ins for a shop, a search engine plugin, and a contact form. */
import {
  listOf,
  must,
  outcomeOf,
  type JudgedSite,
  type PluginUnderTest,
  textOf,
} from './plugin-judge.ts'

/** A new visitor puts one piece of the product at this address into the cart. */
async function withCart(site: JudgedSite, name: string) {
  const buyer = site.world.visitor()
  const id = await site.post(name)
  const added = await buyer.ask(`/?add-to-cart=${id}`)
  must(added.status === 302 && buyer.cookies.has('shop_session'), 'no cart was made')
  return { buyer, id }
}
async function checkOut(site: JudgedSite, name: string, email: string) {
  const { buyer, id } = await withCart(site, name)
  const { text } = await buyer.ask('/checkout/')
  const nonce = /data-nonce="(\w+)"/.exec(text)?.[1] ?? ''
  const answer = await site.send(
    buyer,
    '/wp-json/shop/v1/checkout',
    { email },
    { nonce, 'content-type': 'application/json' },
  )
  return { answer, id }
}
const jobsMs = 20_000

const stockOf = async (site: JudgedSite, id: number): Promise<number> =>
  Number(await site.value(`select stock_quantity from wp_shop_lookup where product_id = ${id}`))

export const shop: PluginUnderTest = {
  folder: 'shop',
  like: 'WooCommerce',
  kind: 'plugin',
  acts: [
    { name: 'list of products', run: (site) => site.kept('/shop/', 'Trà sen', 'Cà phê') },
    {
      name: 'product with price and stock',
      run: (site) => site.kept('/product/tra-sen/', '120,000 đ', '5 in stock'),
    },
    {
      name: 'cart in a cookie',
      async run(site) {
        const { buyer } = await withCart(site, 'tra-sen')
        const outcome = await site.never('/cart/', buyer, 'Trà sen × 1')
        await site.shows('/cart/', 'Your cart is empty.')
        return outcome
      },
    },
    {
      name: 'checkout: order, stock, letter',
      async run(site) {
        await site.kept('/product/tra-sen/', '5 in stock')
        await site.letters()
        const { answer, id } = await checkOut(site, 'tra-sen', 'an@example.vn')
        must(answer.status === 200, `the checkout answers ${answer.status}: ${answer.text}`)
        const left = await stockOf(site, id)
        must(left === 4, `${left} are in stock`)
        const [order] = await site.rows('select status, total_amount from wp_shop_orders')
        must(order?.['status'] === 'processing', 'the order is not there')
        const [letter] = await site.letters()
        must(letter?.to[0] === 'an@example.vn', 'no letter was sent')
        // The write has dropped the page that showed five.
        return await site.shows('/product/tra-sen/', '4 in stock')
      },
    },
    {
      name: 'the last piece is sold once',
      async run(site) {
        const emails = ['one', 'two', 'three', 'four'].map((name) => `${name}@example.vn`)
        const answers = await Promise.all(emails.map((email) => checkOut(site, 'ca-phe', email)))
        const statuses = answers.map(({ answer }) => String(answer.status)).toSorted()
        must(statuses.join() === '200,200,200,409', `the answers are ${statuses.join()}`)
        const [{ id } = { id: 0 }] = answers
        const left = await stockOf(site, id)
        must(left === 0, `${left} are in stock`)
        return { status: 409, cache: '' }
      },
    },
    {
      name: 'scheduled action, report',
      async run(site) {
        await site.jobs()
        // PHP-FPM finishes the answer first, and runs the jobs afterwards.
        const until = performance.now() + jobsMs
        const open = `select count(*) from wp_shop_orders where status <> 'completed'`
        let left: number
        do left = Number(await site.value(open))
        while (left > 0 && performance.now() < until)
        must(left === 0, `${left} orders are not completed`)
        return await site.rest('GET', '/shop/v1/report', undefined, (days) => {
          const { orders, people, emails, fresh } = listOf(days)[0] ?? {}
          const sorted = textOf(emails).split('; ').toSorted().toReversed().join('; ')
          return [orders, people, fresh, emails].map(textOf).join() === `4,4,4,${sorted}`
        })
      },
    },
  ],
}

export const seo: PluginUnderTest = {
  folder: 'seo',
  like: 'Yoast SEO',
  kind: 'plugin',
  acts: [
    {
      name: 'head of a post',
      run: (site) =>
        site.kept('/?p=1&preview=0', 'og:title', '"headline":"Hello world!"').catch(async () => {
          const { data } = await site.rest('GET', '/wp/v2/posts/1', undefined)
          const target = new URL(textOf(data['link'])).pathname
          return await site.kept(target, 'og:title', '"headline":"Hello world!"')
        }),
    },
    {
      name: 'site map',
      async run(site) {
        const outcome = await site.kept('/sitemap_index.xml', '<urlset>', '<loc>')
        const { headers } = await site.world.visitor().ask('/post-sitemap.xml')
        must(String(headers['content-type']).startsWith('text/xml'), 'it is no XML')
        return outcome
      },
    },
    {
      name: 'new title, at once everywhere',
      async run(site) {
        await site.rest('POST', '/wp/v2/posts/1', { title: 'Trà mới', slug: 'tra-moi' })
        await site.shows('/sitemap_index.xml', 'tra-moi')
        const { data } = await site.rest('GET', '/wp/v2/posts/1', undefined)
        const version = await site.value('select version from wp_seo_indexable where object_id = 1')
        must(Number(version) > 1, 'the index was not written')
        return await site.shows(
          new URL(textOf(data['link'])).pathname,
          'og:title" content="Trà mới"',
        )
      },
    },
    { name: 'robots.txt', run: (site) => site.shows('/robots.txt', 'Sitemap: http') },
    {
      name: 'head by REST',
      async run(site) {
        const { data } = await site.rest('GET', '/wp/v2/posts/1', undefined)
        const target = `/wp-json/seo/v1/get_head?url=${encodeURIComponent(textOf(data['link']))}`
        const outcome = await site.kept(target, 'og:title')
        const { text } = await site.world.visitor().ask(target)
        const { html } = JSON.parse(text) as { html: string }
        must(html.includes('content="Trà mới"'), `it says ${html}`)
        return outcome
      },
    },
    {
      name: 'report of links and orphans',
      async run(site) {
        const links = ['https://b.example/1', 'https://a.example/2', 'https://a.example/3']
        const content = links.map((link) => `<a href="${link}">x</a>`).join(' ')
        const made = await site.rest('POST', '/wp/v2/posts', {
          title: 'Links',
          content,
          status: 'publish',
        })
        return await site.rest('GET', '/seo/v1/report', undefined, (report) => {
          const id = Number(made.data['id'])
          const row = listOf(report['links']).find((one) => Number(one['post_id']) === id)
          return (
            textOf(row?.['hosts']) === 'a.example b.example' && listOf(report['orphans']).length > 1
          )
        })
      },
    },
  ],
}

const feedback = async (site: JudgedSite): Promise<string> => {
  const id = await site.value(
    `select option_value from wp_options where option_name = 'contact_form'`,
  )
  return `/wp-json/contact/v1/forms/${String(id)}/feedback`
}
const message = {
  'your-name': 'An',
  'your-mail': 'an@example.vn',
  'your-message': "Xin chào, it's \\ me",
}

export const contactForm: PluginUnderTest = {
  folder: 'contact-form',
  like: 'Contact Form 7',
  kind: 'plugin',
  acts: [
    {
      name: 'page with the form',
      run: (site) => site.kept('/contact/', 'class="contact"', 'contact.js?ver=1.0'),
    },
    {
      name: 'what is missing is named',
      async run(site) {
        const answer = await site.send(site.world.visitor(), await feedback(site), {
          'your-mail': 'an',
        })
        must(answer.text.includes('validation_failed'), answer.text)
        must(answer.text.includes('Please enter an email address.'), answer.text)
        return outcomeOf(answer)
      },
    },
    {
      name: 'message: letter and row',
      async run(site) {
        await site.letters()
        const answer = await site.send(site.world.visitor(), await feedback(site), message)
        must(answer.text.includes('mail_sent'), answer.text)
        const [letter] = await site.letters()
        must(letter?.to[0] === 'quan@example.vn', 'no letter was sent')
        must(letter.text.includes('Reply-To: an@example.vn'), 'it has no Reply-To')
        const text = await site.value(
          `select post_content from wp_posts where post_type = 'contact_message'`,
        )
        must(text === message['your-message'], `the row says ${String(text)}`)
        return outcomeOf(answer)
      },
    },
    {
      name: 'file with the message',
      async run(site) {
        const mark = 'a-boundary-of-the-form'
        const part = (head: string, content: string): string =>
          `--${mark}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`
        const body =
          Object.entries(message)
            .map(([name, value]) => part(`name="${name}"`, value))
            .join('') +
          part('name="cv"; filename="cv.txt"\r\nContent-Type: text/plain', 'Tôi biết pha trà.') +
          `--${mark}--\r\n`
        await site.letters()
        const answer = await site.world.visitor().ask(await feedback(site), {
          method: 'POST',
          headers: { 'content-type': `multipart/form-data; boundary=${mark}` },
          body,
        })
        must(answer.text.includes('"files":1'), answer.text)
        const [letter] = await site.letters()
        const attached = Buffer.from('Tôi biết pha trà.').toString('base64')
        must(letter?.text.includes(attached) === true, 'the letter has no attachment')
        return outcomeOf(answer)
      },
    },
    {
      name: 'robot is refused',
      async run(site) {
        await site.letters()
        const robot = { ...message, website: 'http://spam.example' }
        const answer = await site.send(site.world.visitor(), await feedback(site), robot)
        must(answer.text.includes('"spam"'), answer.text)
        must((await site.letters()).length === 0, 'a letter was sent')
        return outcomeOf(answer)
      },
    },
    {
      name: 'form without JavaScript',
      async run(site) {
        const body = { ...message, _contact: '1' }
        const answer = await site.send(site.world.visitor(), '/contact/', body)
        must(answer.text.includes('class="answer">mail_sent'), 'the page has no answer')
        const next = await site.world.visitor().ask('/contact/')
        must(!next.text.includes('class="answer"'), 'the answer was kept for others')
        await site.letters()
        return outcomeOf(answer)
      },
    },
  ],
}
