/** The OpenAPI 3.1 document, made from the same schemas that validate. */
import * as z from 'zod'
import { errors, type Endpoint } from '../../contract/index.ts'
import { tagOf } from '../../contract/tags.ts'
import { tokenScopes } from '../../contract/token-scopes.ts'
import { tokenPrefix } from '../../contract/tokens.ts'
import { csrfHeader } from './session-cookie.ts'

type Json = Record<string, unknown>

type Schema = Endpoint['result']
const known = { input: new WeakMap<Schema, Json>(), output: new WeakMap<Schema, Json>() }

/** Each schema is converted once: the contract does not change while the process runs. */
const schemaOf = (schema: Schema, io: 'input' | 'output'): Json => {
  const before = known[io].get(schema)
  if (before) return before
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
  }) as Json
  known[io].set(schema, rest)
  return rest
}

function parametersOf(endpoint: Endpoint): Json[] {
  const parameters: Json[] = []
  for (const [where, schema] of [
    ['path', endpoint.params],
    ['query', endpoint.query],
  ] as const) {
    if (!schema) continue
    const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
      properties?: Record<string, Json>
      required?: string[]
    }
    for (const [name, property] of Object.entries(properties))
      parameters.push({
        name,
        in: where,
        required: where === 'path' || required.includes(name),
        schema: property,
      })
  }
  if (
    (endpoint.method === 'POST' || endpoint.method === 'PUT') &&
    !endpoint.bare &&
    !endpoint.unkept
  )
    parameters.push({ $ref: '#/components/parameters/IdempotencyKey' })
  return parameters
}

/** A bearer token, or the cookie; a write by cookie needs its CSRF token too. */
const byCookie = (endpoint: Endpoint): Json =>
  endpoint.method === 'GET' ? { cookie: [] } : { cookie: [], csrf: [] }
function securityOf(endpoint: Endpoint): Json[] {
  if (endpoint.access === 'staff')
    return endpoint.method === 'GET' ? [{ staff: [] }] : [{ staff: [], csrf: [] }]
  if (endpoint.access === 'customer')
    return [
      { bearer: [] },
      byCookie(endpoint),
      ...(endpoint.scope === undefined ? [] : [{ token: [endpoint.scope] }]),
    ]
  return endpoint.identifies === true ? [{ bearer: [] }, byCookie(endpoint), {}] : []
}

function operationOf(endpoint: Endpoint): Json {
  const status = endpoint.status ?? 200
  const envelope: Json = {
    type: 'object',
    required: ['statusCode', 'message', 'result', ...(endpoint.paged ? ['page'] : [])],
    properties: {
      statusCode: { const: status },
      message: { const: 'success' },
      result: schemaOf(endpoint.result, 'output'),
      ...(endpoint.paged && { page: { $ref: '#/components/schemas/Page' } }),
    },
  }
  const failure = { $ref: '#/components/responses/Failure' }
  return {
    summary: endpoint.summary,
    tags: [tagOf(endpoint)],
    security: securityOf(endpoint),
    parameters: parametersOf(endpoint),
    ...(endpoint.body && {
      requestBody: {
        required: true,
        content: Object.fromEntries(
          [
            'application/json',
            ...(endpoint.takesForms ? ['application/x-www-form-urlencoded'] : []),
          ].map((type) => [type, { schema: schemaOf(endpoint.body as Schema, 'input') }]),
        ),
      },
    }),
    ...(endpoint.takesBytes && {
      requestBody: {
        required: true,
        content: {
          'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
        },
      },
    }),
    responses: {
      [status]: {
        description: 'Success',
        content: {
          ...(!(endpoint.bare && endpoint.files) && {
            'application/json': {
              schema: endpoint.bare ? schemaOf(endpoint.result, 'output') : envelope,
            },
          }),
          ...Object.fromEntries(
            (endpoint.files ?? []).map((type) => [
              type,
              { schema: { type: type === 'application/json' ? 'object' : 'string' } },
            ]),
          ),
        },
      },
      ...(endpoint.access !== 'public' && { 401: failure }),
      ...((endpoint.asksAgain === true ||
        endpoint.access === 'staff' ||
        endpoint.scope !== undefined) && { 403: failure }),
      ...(endpoint.params && { 404: failure }),
      ...((endpoint.body || endpoint.query) && { 422: failure }),
      default: failure,
    },
  }
}

export function openApi(
  endpoints: readonly Endpoint[],
  about: {
    title: string
    version: string
    url: string
    cookieName: string
    staffCookieName: string
  },
): Json {
  const paths: Record<string, Json> = {}
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operationOf(endpoint) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: about.title,
      version: about.version,
      description:
        "Money is an integer in the currency's minor unit. " +
        'Lists are keyset-paginated, newest first.',
    },
    servers: [{ url: about.url }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        token: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: `${tokenPrefix}…`,
          description:
            'A token for a program, made at POST /api/v1/account/tokens or on the page ' +
            '/account/programs. Each call names the scope that opens it; a call without one is ' +
            `closed to tokens. Scopes: ${tokenScopes.join(', ')}; write includes read.`,
        },
        cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: about.cookieName,
          description: 'Set at sign-in and at unlock: HttpOnly, SameSite=Lax, Secure by https.',
        },
        staff: {
          type: 'apiKey',
          in: 'cookie',
          name: about.staffCookieName,
          description:
            'Of the operator’s staff; set at POST /api/operator/sign-in: HttpOnly, ' +
            'SameSite=Strict, Secure by https, for eight hours.',
        },
        csrf: {
          type: 'apiKey',
          in: 'header',
          name: csrfHeader,
          description:
            'With the cookie, in every call but GET. The sign-in tells it (`session.csrfToken`), ' +
            'GET /api/v1/auth/session tells it again, and so does the header of this name in the ' +
            'response to every call that the cookie holds.',
        },
      },
      parameters: {
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          schema: { type: 'string', minLength: 1, maxLength: 255 },
          description:
            'The same key and body gives the first answer again, with its cookies; kept 24 hours.',
        },
      },
      schemas: {
        Page: {
          type: 'object',
          required: ['next'],
          properties: { next: { type: ['string', 'null'] } },
        },
        Failure: {
          type: 'object',
          required: ['statusCode', 'message', 'error'],
          properties: {
            statusCode: { type: 'integer' },
            message: { type: 'string' },
            error: {
              type: 'object',
              required: ['code', 'requestId'],
              properties: {
                code: { enum: Object.keys(errors) },
                fields: { type: 'object', additionalProperties: { type: 'string' } },
                challenge: {
                  type: 'string',
                  description: 'With second_factor_required: for POST /api/v1/auth/second-factor.',
                },
                requestId: { type: 'string', format: 'uuid' },
              },
            },
          },
        },
      },
      responses: {
        Failure: {
          description: 'A refusal or a failure',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
        },
      },
    },
  }
}
