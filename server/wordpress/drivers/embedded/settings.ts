import * as z from 'zod/mini'

/** What the embedded driver takes from the environment; nothing is required. */
export const settings = z.object({
  /**
   * `on`: sites may reach the public internet (plugin installs, updates). Off as shipped: they reach their own address alone, and WordPress is told
   * so, whose dashboard would wait for the internet otherwise.
   */
  WORDPRESS_INTERNET: z._default(z.enum(['on', 'off']), 'off'),
  /** Most containers one site may have; each takes about 320 MB, and what there is no memory for is refused. */
  WORDPRESS_MAX_CONTAINERS: z._default(z.coerce.number().check(z.int(), z.gte(1), z.lte(50)), 50),
})
export type Settings = z.output<typeof settings>
