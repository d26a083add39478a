import type { AbortSignalLike, Env, EnvOptions, IsolatedJob, Kernel, Test } from './index.js'

export type IsolatedMessage =
  | { type: 'loading'; name: string }
  | { type: 'refused'; what: string }
  | { type: 'plan'; tests: readonly { index: number; name: string; path: string; backend: string }[] }
  | { type: 'start'; index: number }
  | { type: 'test'; index: number; test: Test }
  | { type: 'done' }
  | { type: 'error'; error: { code: string; message: string } }

/** Inside: runs the job and posts its messages. */
export function runIsolated(job: IsolatedJob, host: {
  createEnv(options?: EnvOptions): Promise<Env>
  evaluate(source: string, name: string): Promise<Kernel>
  post(message: IsolatedMessage): void
  /** Gets a function that says what the kernel reached for, for what `evaluate` alone sees. */
  onWatch?(note: (what: string) => void): void
}): Promise<void>

/** Outside: runs the job in as many places as it takes. `open` answers what kills the place that it made. */
export function collectTests(
  job: IsolatedJob,
  limits: { signal?: AbortSignalLike; timeoutMs?: number },
  open: (job: IsolatedJob, onMessage: (message: IsolatedMessage) => void, onEnd: (reason: string) => void) => () => void
): Promise<Test[]>
