export const dockerToolsDir: string
export function imagesKey(): string
export const imageNames: { readonly wordpress: string; readonly mariadb: string }
export function buildImages(parts: {
  readonly socketPath?: string
  readonly baseImage?: string
  readonly say: (text: string) => void
  /** Of each step, seconds. */
  readonly limit?: number
}): Promise<void>
