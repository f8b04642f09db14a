/** A customer as the lists of the desk show them. */
import * as z from 'zod/mini'

export const NamedCustomer = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  blocked: z.boolean(),
})
