/** Australian English: signing in. */
import { enAuth } from './en-auth.ts'

export const audAuth: typeof enAuth = {
  ...enAuth,
  auth: {
    ...enAuth.auth,
    points: [
      'Prepaid: you never spend more than you put in',
      'WordPress servers ready in about a minute',
      'Every charge explained, to the last cent',
    ],
  },
}
