/** A command's output: lines for a person, or with `--json` one object for a program. */
export interface Output {
  /** A line for a person. */
  line(text: string): void
  /** For a program: fields of the single object that is printed at the end. */
  fields(values: Readonly<Record<string, unknown>>): void
  /** The reason of a failure: on stderr, or as `error`. */
  refuse(text: string): void
  /** Prints the object, if one was asked for. */
  end(): void
}

/** Dates are ISO 8601, amounts of bigint are whole numbers in minor units. */
const plain = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? Number(value) : value

export function createOutput(json: boolean): Output {
  const object: Record<string, unknown> = {}
  return {
    line(text) {
      if (!json) process.stdout.write(`${text}\n`)
    },
    fields(values) {
      Object.assign(object, values)
    },
    refuse(text) {
      if (json) object['error'] = text
      else process.stderr.write(`${text}\n`)
    },
    end() {
      if (json) process.stdout.write(`${JSON.stringify(object, plain)}\n`)
    },
  }
}
