/** The variables of a machine: its roles, its ports and its folder. */
import path from 'node:path'
import * as z from 'zod'
import {
  blankMeansFault,
  isHost,
  folderProblem,
  portOrOff,
  port,
  listed,
  everyRole,
  hostAndPort,
  isAddressAndPort,
  type Role,
} from './rules.ts'

export const machineVariables = {
  ENV_FILE: {
    about:
      'Another file in the place of .env. Read from the environment alone; every start and ' +
      'command reads the file, and SIGHUP reads it anew.',
    schema: blankMeansFault('ENV_FILE').optional(),
    example: '',
  },
  ROLES: {
    about:
      'What this machine does of the portal, with commas between: api (pages, API, realtime), ' +
      'worker (jobs), dns (the name server), node (customers’ sites and their edge). ' +
      'docs/operate.md, "Several machines".',
    schema: z
      .string()
      .default(everyRole.join(','))
      .transform((text) => listed(text.toLowerCase()))
      .refine(
        (given) => given.length > 0 && given.every((one) => everyRole.includes(one as Role)),
        `ROLES must be some of ${everyRole.join(', ')}, with commas between them.`,
      )
      .transform((given): ReadonlySet<Role> => new Set(given as Role[])),
    example: everyRole.join(','),
  },
  PORTAL_PROCESSES: {
    about:
      'How many processes of the portal (api, worker) share its port on this machine. Each ' +
      'takes some 100 MB and its own connections to the database.',
    schema: z
      .string()
      .default('1')
      .refine(
        (text) => /^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= 32,
        'PORTAL_PROCESSES must be a number from 1 to 32.',
      )
      .transform(Number),
    example: '1',
  },
  NODE_NAME: {
    about: 'What the node of this machine is called; the first one is main.',
    schema: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9-]{0,39}$/,
        'NODE_NAME must have 1 to 40 small letters, digits and hyphens.',
      )
      .default('main'),
    example: 'main',
  },
  NODE_REGIONS: {
    about:
      'Ids of the data centres in catalog.yaml that this node stands in, with commas between ' +
      'them. Without it: every one.',
    schema: z
      .string()
      .default('')
      .refine(
        (text) => listed(text).every((one) => /^[1-9]\d{0,8}$/.test(one)),
        'NODE_REGIONS must be ids of data centres, with commas between them.',
      )
      .transform((text) => (listed(text).length === 0 ? null : listed(text).map(Number))),
    example: '',
  },
  NODE_LISTEN: {
    about:
      'Where portals of other machines reach the node and the name server of this one, ' +
      'host:port; for trusted networks, encrypted under NODE_KEY. Without it: nowhere.',
    schema: hostAndPort('NODE_LISTEN').optional(),
    example: '',
  },
  NODE_ADDRESS: {
    about: 'The address of NODE_LISTEN as other machines know it, if it is another one.',
    schema: hostAndPort('NODE_ADDRESS').optional(),
    example: '',
  },
  NODE_LEASE_MINUTES: {
    about:
      'For how long portals let a node on a machine without api and worker take writes after ' +
      'their last word; then its sites are only read. So long a lost machine is waited for. off: ' +
      'without an end; then the servers of a lost machine come up elsewhere only when somebody ' +
      'says that it is off.',
    schema: z
      .string()
      .default('60')
      .refine(
        // Longer than anything that a portal has held when it was cut off (updateHoldMs).
        (text) =>
          text === 'off' || (/^\d{1,4}$/.test(text) && Number(text) >= 15 && Number(text) <= 1440),
        'NODE_LEASE_MINUTES must be a number from 15 to 1440, or off.',
      )
      .transform((text) => (text === 'off' ? null : Number(text))),
    example: '60',
  },
  MIRROR_FAILOVER_SECONDS: {
    about:
      'Servers of a plan with a mirror come up on the second node by themselves once no portal ' +
      'has reached theirs for so long (15 to 600), while another machine answers: a third node, ' +
      'or MIRROR_FAILOVER_WITNESS. Their own node takes no write for them then; what was written ' +
      'in the last minute is lost. off: they wait for `node lost`.',
    schema: z
      .string()
      .default('off')
      .refine(
        (text) =>
          text === 'off' || (/^\d{1,3}$/.test(text) && Number(text) >= 15 && Number(text) <= 600),
        'MIRROR_FAILOVER_SECONDS must be a number from 15 to 600, or off.',
      )
      .transform((text) => (text === 'off' ? null : Number(text))),
    example: 'off',
  },
  MIRROR_FAILOVER_WITNESS: {
    about:
      'Something outside of this machine that takes TCP connections while its network works, ' +
      'host:port, such as a router. MIRROR_FAILOVER_SECONDS needs it where there are two machines.',
    schema: hostAndPort('MIRROR_FAILOVER_WITNESS').optional(),
    example: '',
  },
  NODE_KEY: {
    about:
      'What `npm run portal -- node key <NODE_NAME>` says; for NODE_LISTEN on a machine without ' +
      'api and worker.',
    schema: z.string().min(32, 'NODE_KEY must have at least 32 characters.').optional(),
    example: '',
  },
  NODE_SITES_ADDRESS: {
    about: 'Address and port of the sites on this node, for the edges of other nodes: ip:port.',
    schema: hostAndPort('NODE_SITES_ADDRESS')
      .refine(
        (text) => isAddressAndPort(text),
        'NODE_SITES_ADDRESS must be an IP address and port.',
      )
      .optional(),
    example: '',
  },
  NAME_SERVER_ADDRESS: {
    about:
      'Where the machine with the role dns listens (its NODE_LISTEN), for a portal without that ' +
      'role.',
    schema: hostAndPort('NAME_SERVER_ADDRESS').optional(),
    example: '',
  },
  NAME_SERVER_KEY: {
    about: 'What `npm run portal -- node key <its NODE_NAME>` says.',
    schema: z.string().min(32, 'NAME_SERVER_KEY must have at least 32 characters.').optional(),
    example: '',
  },
  PORT: {
    about: 'Port of the portal: pages, API, realtime.',
    schema: port('PORT', 8080),
    example: '8080',
  },
  SANDBOX_PORT: {
    about: 'Port of the sandbox that stands in for third parties.',
    schema: port('SANDBOX_PORT', 8081),
    example: '8081',
  },
  SITES_PORT: {
    about: "Port of the customers' sites.",
    schema: port('SITES_PORT', 8082),
    example: '8082',
  },
  DNS_PORT: {
    about: 'Port of the name server, UDP and TCP.',
    schema: port('DNS_PORT', 8053),
    example: '8053',
  },
  SFTP_PORT: {
    about:
      'Port of SFTP to the files of servers; off: none. Without it 8022, unless something else ' +
      'listens there.',
    schema: portOrOff('SFTP_PORT').optional(),
    example: '',
  },
  SFTP_ADDRESS: {
    about:
      "Host and port that customers are told for SFTP, where they are not PORTAL_URL's host and " +
      'SFTP_PORT.',
    schema: hostAndPort('SFTP_ADDRESS').optional(),
    example: '',
  },
  HOST: {
    about: 'Address to listen on.',
    schema: blankMeansFault('HOST')
      .refine(isHost, 'HOST must be an IP address or a host name.')
      .default('127.0.0.1'),
    example: '127.0.0.1',
  },
  DATA_DIR: {
    about: 'Folder of everything that lasts: database, sites, secret.',
    schema: blankMeansFault('DATA_DIR')
      .default('./data')
      .transform((text) => path.resolve(text))
      .refine(
        (folder) => folderProblem(folder) !== 'file',
        'DATA_DIR must be a folder, or a place where one can be made: there is a file in the way.',
      )
      .refine(
        (folder) => folderProblem(folder) !== 'closed',
        'DATA_DIR lies in a folder that this user may not enter.',
      ),
    example: './data',
  },
} as const
