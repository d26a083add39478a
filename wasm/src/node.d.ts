/** The files of a bundle: a folder or a .zip. */
export function readBundle(path: string): Promise<Map<string, Uint8Array>>
