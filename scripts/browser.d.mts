export function browserPath(): Promise<string>
export const browserArguments: string[]
