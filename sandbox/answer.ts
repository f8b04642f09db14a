/** Answers a letter like the recipient's mail program, with the letter quoted below. */
import { createTransport } from 'nodemailer'

export interface LettersTo {
  readonly host: string
  readonly port: number
}

/** Rejects when the letter is not accepted. */
export async function sendAnswer(
  to: LettersTo,
  letter: { readonly receiver: string; readonly reply_to: string; readonly text: string },
  text: string,
): Promise<void> {
  const [subject = ''] = letter.text.split('\n')
  const quoted = letter.text.split('\n').map((line) => `> ${line}`)
  const transport = createTransport({ ...to, ignoreTLS: true, connectionTimeout: 2_000 })
  try {
    await transport.sendMail({
      from: letter.receiver,
      to: letter.reply_to,
      subject: `Re: ${subject}`,
      text: [text, '', 'The portal wrote:', ...quoted].join('\n'),
    })
  } finally {
    transport.close()
  }
}
