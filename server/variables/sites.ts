/** The variables of customers' servers: their runtime, and their largest sizes. */
import * as z from 'zod'
import { choice } from './rules.ts'

export const siteVariables = {
  WORDPRESS_INTERNET: {
    about:
      'on: sites may reach the public internet (plugins, updates). off: their own address ' +
      'alone; no other is looked up or connected to.',
    schema: choice('WORDPRESS_INTERNET', ['on', 'off'], 'off'),
    example: 'off',
  },
  WORDPRESS_DIRECTORY: {
    about:
      'Address of the directory that updates of WordPress, plugins and themes come from, such as ' +
      'https://api.wordpress.org; off: nothing is updated. Without it: the sandbox’s where it ' +
      'stands in, else api.wordpress.org. The portal alone asks it; sites need no internet.',
    schema: z
      .string()
      .refine(
        (text) =>
          text === 'off' || (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)),
        'WORDPRESS_DIRECTORY must be an http or https address, or off.',
      )
      .transform((text) => text.replace(/\/+$/, ''))
      .optional(),
    example: '',
  },
  SITES_CACHE_MB: {
    about:
      "Memory for kept pages and files of customers' sites, MB; one site takes a quarter of it " +
      'at most. 0: nothing is kept.',
    schema: z
      .string()
      .default('128')
      .refine((text) => /^\d{1,5}$/.test(text), 'SITES_CACHE_MB must be a number from 0 to 99999.')
      .transform(Number),
    example: '128',
  },
  WORDPRESS_RUNTIME: {
    about:
      'What runs the WordPress sites of this machine: the portal itself, with PHP in WebAssembly ' +
      'and SQLite (embedded), or a container engine, with PHP-FPM and MariaDB (docker).',
    schema: choice('WORDPRESS_RUNTIME', ['embedded', 'docker'], 'embedded'),
    example: 'embedded',
  },
  DOCKER_SOCKET: {
    about: 'Where the container engine of WORDPRESS_RUNTIME=docker listens.',
    schema: z
      .string()
      .default('/var/run/docker.sock')
      .refine((text) => text.startsWith('/'), 'DOCKER_SOCKET must be the path of a socket.'),
    example: '/var/run/docker.sock',
  },
  DOCKER_WORDPRESS_IMAGE: {
    about:
      'Image with PHP-FPM for WORDPRESS_RUNTIME=docker; the one that `npm run docker:images` ' +
      'makes when empty.',
    schema: z.string().optional(),
    example: '',
  },
  DOCKER_MARIADB_IMAGE: {
    about: 'Image with MariaDB, likewise.',
    schema: z.string().optional(),
    example: '',
  },
  WORDPRESS_MAX_CONTAINERS: {
    about:
      'Most containers one site may have; each takes about 320 MB, and an order that there is no ' +
      'memory for is paid back.',
    schema: z
      .string()
      .default('50')
      .refine(
        (text) => /^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= 50,
        'WORDPRESS_MAX_CONTAINERS must be a number from 1 to 50.',
      )
      .transform(Number),
    example: '50',
  },
  WORDPRESS_MAX_CPU: {
    about:
      'Most processors that a WordPress plan can be given here; larger plans are not offered. ' +
      'Those of this machine when empty.',
    schema: z
      .string()
      .default('')
      .refine(
        (text) => text === '' || (/^\d{1,3}$/.test(text) && Number(text) >= 1),
        'WORDPRESS_MAX_CPU must be a number from 1 to 999, or empty.',
      )
      .transform((text) => (text === '' ? null : Number(text))),
    example: '',
  },
  WORDPRESS_MAX_RAM_MB: {
    about:
      'Most memory that a WordPress plan can be given here, MB; larger plans are not offered. ' +
      'That of this machine when empty.',
    schema: z
      .string()
      .default('')
      .refine(
        (text) => text === '' || (/^\d{3,7}$/.test(text) && Number(text) >= 512),
        'WORDPRESS_MAX_RAM_MB must be a number from 512 to 9999999, or empty.',
      )
      .transform((text) => (text === '' ? null : Number(text))),
    example: '',
  },
  WORDPRESS_PAGE_SECONDS: {
    about:
      'How long PHP may take for one page of a WordPress site; the visitor is then told that it ' +
      'was stopped. Seconds, 10 to 600.',
    schema: z
      .string()
      .default('60')
      .refine(
        (text) => /^\d{2,3}$/.test(text) && Number(text) >= 10 && Number(text) <= 600,
        'WORDPRESS_PAGE_SECONDS must be a number from 10 to 600.',
      )
      .transform(Number),
    example: '60',
  },
} as const
