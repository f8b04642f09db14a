export function ensureServerBundle(): Promise<void>
export function serverProgram(name: 'main' | 'api' | 'name-server-process' | 'command'): string
