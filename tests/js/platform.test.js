// Waits of any length, which end neither early nor never.
import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { after } from '../../wasm/src/platform.js'

describe('after', () => {
  it('acts once, when the time has gone by', async () => {
    const start = performance.now()
    let acts = 0
    await new Promise(resolve => after(5, () => {
      acts++
      resolve()
    }))
    assert.ok(performance.now() - start >= 5)
    assert.equal(acts, 1)
  })

  it('goes on waiting when a timer fires early', () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      let acts = 0
      const stop = after(1e6, () => { acts++ })
      mock.timers.tick(1e6)
      assert.equal(acts, 0)
      stop()
    } finally {
      mock.timers.reset()
    }
  })

  it('never acts when it is ended, nor for Infinity', () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const act = () => assert.fail('acted')
      after(0, act)()
      after(Infinity, act)()
      mock.timers.tick(1e6)
    } finally {
      mock.timers.reset()
    }
  })
})
