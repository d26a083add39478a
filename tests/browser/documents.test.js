// ONNX documents in the page: what they are, their tree, the search, their texts, changes and downloads.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createEnv } from '../../wasm/js/index.js'
import { writeLargeModel } from '../support/large.js'
import * as onnx from '../support/onnx.js'
import { message } from '../support/proto.js'
import { skip } from './browser.js'
import { lowContrast } from './contrast.js'
import { small, wrongNetwork } from './network.js'
import { startPage } from './page.js'

const { graph, model, node, tensor, value } = onnx

const chain = count => model({
  nodes: Array.from({ length: count }, (_, i) => node(i % 1000 === 999 ? 'Abs' : 'LeakyRelu', [`layer/out_${i}`], [`layer/out_${i + 1}`], i % 1000 === 999 ? {} : { alpha: 0.01 }, { name: `layer/node_${i}` })),
  inputs: [value('layer/out_0', 'float32', [8])], outputs: [value(`layer/out_${count}`, 'float32', [8])]
})

const line = text => `.tree .line:has(:text-is("${text}"))`
const active = '.tree [aria-selected=true]'

describe('ONNX documents in the page', { skip }, () => {
  let pages, folder, env
  before(async () => {
    [pages, env] = await Promise.all([startPage(), createEnv()])
    folder = mkdtempSync(join(tmpdir(), 'opspec-page-'))
  })
  after(() => {
    pages?.stop()
    env?.dispose()
    if (folder !== undefined) rmSync(folder, { recursive: true })
  })

  const written = (name, bytes) => {
    writeFileSync(join(folder, name), bytes)
    return join(folder, name)
  }

  async function opened (name, bytes, { first = '.tree [aria-level="1"]', ...options } = {}) {
    const person = await pages.open(options)
    await person.choose(written(name, bytes))
    await person.has(1, `.document h2:text-is("${name}")`)
    await person.has(1, first)
    return person
  }

  async function saved (person, label) {
    await person.page.click('.document .tools [data-key=download]')
    const [download] = await Promise.all([person.page.waitForEvent('download'), person.page.click(`.menu button:has-text("${label}")`)])
    return { name: download.suggestedFilename(), bytes: new Uint8Array(readFileSync(await download.path())) }
  }

  // Letters of one word come within a time that a busy machine may not keep.
  const typeAtOnce = (person, word) => person.page.evaluate(text => {
    for (const key of text) document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
  }, word)

  async function find (person, words, count) {
    await person.page.fill('.finder input', '') // what was found before is no answer
    await person.has(1, '.finder output:empty')
    await person.page.fill('.finder input', words)
    await person.has(1, `.finder output:text-is("${count}")`, words)
  }

  it('opens a model by the file button: what it is and why, its parts with types, those that were inferred, too', async () => {
    const person = await opened('network.onnx', small)
    await person.has(1, '.document .facts:has-text("model")')
    await person.has(1, '.document .facts:has-text("Its fields are those of ModelProto.")')
    await person.has(1, `${line('dense')} .type:text-is("tensor(float) [N, 4]")`)
    await person.has(1, `${line('MatMul')}:has-text("(x, w) → (hidden)")`)
    await person.has(1, '.overview .fine')
    await person.has(4, '.overview .operators li')
    await person.page.click(line('dense'))
    await person.has(1, '.details .path:text-is("graph.node[0]")')
    await person.has(1, '.details dd:has-text("w: tensor(float) [3, 4]")')
    assert.deepEqual(person.complaints, [])
    await person.close()
  })

  it('shows inferred types inside of graphs and functions, changes what is in them, and keeps the lines that say the same', async () => {
    const fn = onnx.functionProto({ name: 'F', domain: 'org.test', inputs: ['a'], outputs: ['r'], nodes: [node('Abs', ['a'], ['k'], {}, { name: 'first' }), node('Neg', ['k'], ['r'], {}, { name: 'second' })] })
    const inside = graph({ name: 'yes', nodes: [node('Neg', ['x'], ['deep'], {}, { name: 'deepest' }), node('Abs', ['deep'], ['b'])], outputs: [value('b', 'float32', ['N', 3])] })
    const bytes = model({
      opsets: { '': 21, 'org.test': 1 }, functions: [fn], nodes: [node('If', ['flag'], ['i'], { then_branch: { graph: inside }, else_branch: { graph: inside } }, { name: 'if' }), node('F', ['i'], ['y'], {}, { domain: 'org.test' })],
      inputs: [value('x', 'float32', ['N', 3]), value('flag', 'bool', [])], outputs: [value('y', 'float32', ['N', 3])]
    })
    const person = await opened('inside.onnx', bytes)
    await person.has(1, '.overview h3:text-is("Findings")')
    for (const [words, count] of [['name:first', '1 of 1'], ['name:deepest', '1 of 2']]) {
      await find(person, words, count)
      await person.has(1, `${active} .type:text-is("tensor(float) [N, 3]")`)
    }
    // The line of the chosen part is another one, the others are the elements that they were.
    await person.page.evaluate(() => { for (const element of document.querySelectorAll('.tree .line')) element.kept = true })
    await person.page.click(`.tree .line:has-text("deepest") + .line, ${line('If')}`)
    await person.has(1, `${active}:not(:has-text("deepest"))`)
    const [kept, all] = await person.page.evaluate(() => { const lines = [...document.querySelectorAll('.tree .line')]; return [lines.filter(element => element.kept).length, lines.length] })
    assert.ok(kept >= all - 2 && kept > 5, `${kept} of ${all}`)
    await find(person, 'name:first', '1 of 1')
    await person.page.click('.details button:text-is("Remove and pass its input on")')
    await person.has(1, '.document .tools [data-key=undo]:not([disabled])')
    await find(person, 'name:second', '1 of 1')
    await person.has(1, `${active}:has-text("(a) → (r)")`)
    assert.deepEqual(person.complaints, [])
    await person.close()
  })

  it('is walked by keyboard as a tree, and says what it is to programs that read it aloud', async () => {
    const person = await opened('network.onnx', small)
    const { keyboard } = person.page
    const state = () => person.page.evaluate(() => {
      const tree = document.querySelector('.tree')
      const item = document.getElementById(tree.getAttribute('aria-activedescendant') ?? '')
      return item && [item.querySelector('.label').textContent, item.querySelector('.title')?.textContent ?? '', item.getAttribute('aria-level'), item.getAttribute('aria-expanded')].join(' ')
    })
    const at = async expected => {
      let now = await state()
      for (let looks = 0; looks < 200 && now !== expected; looks++) {
        await person.page.waitForTimeout(50)
        now = await state()
      }
      assert.equal(now, expected)
    }
    await person.has(1, line('dense'))
    await person.page.focus('.tree')
    await at('ModelProto  1 true')
    await keyboard.press('ArrowDown')
    await at('ir_version  2 ')
    await typeAtOnce(person, 'node')
    await at('node  3 true')
    await keyboard.press('ArrowRight')
    await at('node[0] MatMul 4 false')
    await keyboard.press('ArrowDown')
    await keyboard.press('ArrowRight')
    await at('node[1] If 4 true')
    await person.has(1, `${line('then_branch')}[aria-level="5"][aria-posinset="3"][aria-setsize="4"]`)
    await keyboard.press('t')
    await at('attribute[0] then_branch 5 false')
    await keyboard.press('ArrowRight')
    await keyboard.press('ArrowRight')
    await at('g yes 6 false')
    await keyboard.press('ArrowLeft')
    await at('attribute[0] then_branch 5 true')
    await keyboard.press('ArrowLeft')
    await at('attribute[0] then_branch 5 false')
    await keyboard.press('ArrowLeft')
    await at('node[1] If 4 true')
    await keyboard.press('End')
    await at('initializer  3 false')
    await keyboard.press('Enter')
    await person.has(1, line('w'))
    await keyboard.press('Home')
    await at('ModelProto  1 true')
    await keyboard.press('Control+f')
    assert.equal(await person.page.evaluate(() => document.activeElement.type), 'search')
    await person.close()
  })

  it('shows findings beside the places that they name, and goes there', async () => {
    const wrong = model(wrongNetwork)
    const person = await opened('wrong.onnx', wrong)
    await person.has(1, '.overview .finding')
    await person.has(1, `${line('activation')} .found.error`)
    await person.page.click(line('node'))
    await person.page.keyboard.press('ArrowLeft')
    await person.has(0, line('activation'))
    await person.has(1, `${line('node')} .found.error .badge:text-is("1")`)
    await person.page.click('.overview .finding .row')
    await person.has(1, `${active} .label:text-is("input[0]")`)
    await person.has(1, '.details .path:text-is("graph.node[2].input[0]")')
    await person.has(1, '.details .here li.error:has-text("nowhere")')
    await person.close()
  })

  it('finds by name, operator, type and shape, and goes from hit to hit', async () => {
    const person = await opened('network.onnx', small)
    await person.has(1, line('dense'))
    await find(person, 'op:neg', '1 of 2')
    await person.has(1, `${active}:has-text("yes_neg")`)
    await person.page.keyboard.press('Enter')
    await person.has(1, '.finder output:text-is("2 of 2")')
    await person.has(1, `${active}:has-text("no_neg")`)
    await person.page.click('.finder .down')
    await person.has(1, `${active}:has-text("yes_neg")`)
    await person.page.click('.finder .up')
    await person.has(1, '.finder output:text-is("2 of 2")')
    await find(person, 'DENSE', '1 of 1')
    await person.has(1, `${active}:has-text("dense")`)
    await find(person, '[3, 4]', '1 of 1')
    await person.has(1, `${active} .label:text-is("initializer[0]")`)
    await find(person, 'shape:[N,*]', '1 of 9')
    await find(person, 'type:bool', '1 of 1')
    await find(person, 'op:MatMul [N, 4]', '1 of 1')
    await find(person, 'name:w', '1 of 1')
    await find(person, 'no such thing', 'no hits')
    await person.page.keyboard.press('Escape')
    assert.equal(await person.page.inputValue('.finder input'), '')
    await person.close()
  })

  it('says who makes and who uses a value, and goes there', async () => {
    const person = await opened('network.onnx', small)
    await find(person, 'name:hidden', '1 of 1')
    await person.has(1, `${active}:has-text("dense")`)
    await person.page.focus('.tree')
    await person.page.keyboard.press('ArrowRight')
    await typeAtOnce(person, 'hidden')
    await person.has(1, '.details .path:text-is("graph.node[0].output[0]")')
    await person.has(1, '.details dd:has-text("tensor(float) [N, 4], inferred")')
    await person.has(1, '.details button:text-is("node[0] MatMul dense")')
    await person.page.click(line('input'))
    await person.page.click('.tree .line:has(.label:text-is("input[0]")):has(.title:text-is("x"))')
    await person.has(1, '.details .path:text-is("graph.input[0]")')
    await person.page.click('.details button:text-is("node[0] MatMul dense")')
    await person.has(1, `${active} .label:text-is("node[0]")`)
    await person.close()
  })

  it('shows the texts, finds in them, and saves the document in each of its forms', async () => {
    const person = await opened('network.onnx', small)
    for (const [label, form, suffix] of [['JSON', 'json', 'json'], ['Text', 'textproto', 'textproto'], ['ONNX syntax', 'onnxtxt', 'onnxtxt']]) {
      await person.page.click(`.document .tabs [role=tab]:has-text("${label}")`)
      const text = env.format(small, 'ModelProto', form)
      await person.has(1, `.text-note:has-text("${text.split('\n').length} lines")`)
      await person.has(1, `.text .line:nth-child(1) code:text-is(${JSON.stringify(text.split('\n')[0])})`)
      await person.page.fill('.finder input', 'leakyrelu')
      await person.has(1, '.text .marked:has-text("LeakyRelu")')
      const { name, bytes } = await saved(person, label)
      assert.equal(name, `network.${suffix}`)
      assert.deepEqual(env.parse(bytes, 'ModelProto', form), env.parse(text, 'ModelProto', form))
    }
    assert.deepEqual(await saved(person, 'protobuf)'), { name: 'network.onnx', bytes: small })
    await person.close()
  })

  it('takes a changed text in the document’s place, and takes it back', async () => {
    const person = await opened('network.onnx', small)
    await person.page.click('.document .tabs [role=tab]:has-text("Text")')
    await person.page.click('.text-note button:text-is("Edit")')
    await person.has(1, '.text-editor .primary')
    const text = env.format(small, 'ModelProto', 'textproto')
    const write = async changed => {
      await person.page.click('.edited .cm-content')
      await person.page.keyboard.press('Control+a')
      await person.page.keyboard.insertText(changed)
      await person.page.click('.text-editor .primary')
    }
    await write(text.replace('op_type: "MatMul"', 'op_kind: "MatMul"'))
    await person.has(1, '.text-editor .finding .meta:has-text("form.")')
    const place = await person.textOf('.text-editor .finding .meta span:nth-child(2)')
    assert.match(text.split('\n')[Number(place.split(':')[0]) - 1], /MatMul/)
    await write(text.replace('"dense"', '"thick"'))
    await person.has(0, '.text-editor')
    await person.page.click('.document .tabs [role=tab]:has-text("Tree")')
    await person.has(1, line('thick'))
    const { bytes } = await saved(person, 'protobuf)')
    assert.equal(env.decode(bytes, 'ModelProto').graph.node[0].name, 'thick')
    await person.page.click('.document .tools [data-key=undo]')
    await person.has(1, line('dense'))
    assert.deepEqual((await saved(person, 'protobuf)')).bytes, small)
    await person.page.click('.document .tools [data-key=redo]')
    await person.has(1, line('thick'))
    await person.page.focus('.tree')
    await person.page.keyboard.press('Control+z')
    await person.has(1, line('dense'))
    await person.page.keyboard.press('Control+Shift+z')
    await person.has(1, line('thick'))
    const [download] = await Promise.all([person.page.waitForEvent('download'), person.page.keyboard.press('Control+s')])
    assert.equal(download.suggestedFilename(), 'network.onnx')
    assert.deepEqual(new Uint8Array(readFileSync(await download.path())), bytes)
    await person.close()
  })

  it('renames, removes and sets what the package can edit, a step of undo each', async () => {
    const person = await opened('network.onnx', small)
    const answer = async (button, text) => {
      await person.page.click(`.details button:text-is("${button}")`)
      if (text === undefined) return
      await person.page.fill('dialog input', text)
      await person.page.click('dialog button.primary')
    }
    const now = async () => env.decode((await saved(person, 'protobuf)')).bytes, 'ModelProto')
    await person.page.click(line('dense'))
    await answer('Rename', 'thick')
    await person.has(1, `${active}:has-text("thick")`)
    await person.page.click('.tree .line:has(.label:text-is("input[0]")):has(.title:text-is("x"))')
    await person.has(1, '.details .path:text-is("graph.input[0]")')
    await answer('Rename', 'picture')
    await person.has(1, `${line('thick')}:has-text("(picture, w) → (hidden)")`)
    await person.has(1, '.overview table:not(.feeds) th code:text-is("picture")')
    await person.page.click(line('activation'))
    await person.has(1, '.details .path:text-is("graph.node[2]")')
    await answer('Remove and pass its input on')
    await person.has(0, line('activation'))
    await person.page.click('.tree [aria-level="1"]')
    await answer('Add metadata', 'author = somebody')
    await person.page.click(line('metadata_props'))
    await person.page.click(line('ir_version'))
    await answer('Change', '9')
    await person.has(1, `${active} .remark:text-is("9")`)
    await person.page.click(line('thick'))
    await answer('Remove')
    await person.has(1, '.notice.error:has-text("hidden")')
    const changed = await now()
    assert.deepEqual(changed.graph.node.map(({ name }) => name), ['thick', 'branch'])
    assert.deepEqual([changed.irVersion, changed.metadataProps], [9n, [{ key: 'author', value: 'somebody' }]])
    assert.deepEqual(changed.graph.input.map(({ name }) => name), ['picture', 'flag'])
    await person.has(1, '.overview .fine')
    for (let left = 5; left > 0; left--) {
      await person.has(0, '.document .tools [data-key=undo]:disabled')
      const title = await person.page.getAttribute('.document .tools [data-key=undo]', 'title')
      await person.page.click('.document .tools [data-key=undo]')
      await person.has(1, `.document .tools [data-key=redo][title="${title.replace('Takes back', 'Does again')}"]`)
    }
    await person.has(1, '.document .tools [data-key=undo]:disabled')
    assert.deepEqual((await saved(person, 'protobuf)')).bytes, small)
    await person.close()
  })

  it('edits 100 MB without reading them', async () => {
    const path = join(folder, 'edited.onnx')
    writeLargeModel(path, { inside: 25, elements: 1_000_000 })
    const person = await pages.open()
    await person.choose(path)
    await person.has(1, '.overview .fine')
    await find(person, 'name:v7', '1 of 1')
    await person.page.click(`${active}:has-text("v7")`)
    await person.page.click('.details button:text-is("Rename")')
    await person.page.fill('dialog input', 'seventh')
    await person.page.click('dialog button.primary')
    await person.has(1, `${active}:has-text("seventh")`)
    const { bytes } = await saved(person, 'protobuf)')
    assert.equal(env.decode(bytes, 'ModelProto').graph.node.find(({ name }) => name === 'seventh').output[0], 'v7')
    await person.close()
  })

  const numbers = { dims: [2, 3], data_type: 1, float_data: [1, 2, 3, 4, 5, 6.5], name: 't' }
  const others = {
    'tensor': ['TensorProto', numbers],
    'sequence': ['SequenceProto', { name: 's', elem_type: 1, tensor_values: [numbers, numbers] }],
    'map': ['MapProto', { name: 'm', key_type: 8, string_keys: ['one'], values: { elem_type: 1, tensor_values: [numbers] } }],
    'optional': ['OptionalProto', { name: 'o', elem_type: 3, sequence_value: { elem_type: 1, tensor_values: [numbers] } }],
    'operator-set': ['OperatorSetProto', { magic: 'ONNXOPSET', ir_version: 10, domain: 'org.test', opset_version: 3, operator: [{ op_type: 'Tilt', since_version: 2, status: 1 }] }]
  }
  for (const [kind, [type, object]] of Object.entries(others)) {
    it(`opens a ${kind}, from its bytes and from its texts`, async () => {
      const bytes = message(type, object)
      const person = await opened(`${kind}.pb`, bytes)
      if (kind === 'optional') { // its bytes are those of a sequence, too
        await person.has(1, '.document .facts:has-text("sequence ·")')
        await person.page.click('.document .facts button:text-is("OptionalProto")')
      }
      await person.has(1, `.document .facts:has-text("${kind} ·")`)
      await person.has(1, `.tree .line[aria-level="1"]:has-text("${type}")`)
      for (const [form, suffix] of [['json', 'json'], ['textproto', 'textproto']]) {
        await person.drop(`other.${suffix}`, new TextEncoder().encode(env.format(bytes, type, form)))
        await person.has(1, `.document h2:text-is("other.${suffix}")`)
        await person.has(1, `.document .facts:has-text("its fields are those of ${type}")`)
        assert.deepEqual((await saved(person, 'protobuf)')).bytes, env.parse(env.format(bytes, type, form), type, form))
      }
      if (kind === 'tensor') {
        const { name, bytes: npy } = await saved(person, 'NumPy')
        assert.equal(name, 'other.npy')
        assert.match(new TextDecoder('latin1').decode(npy.subarray(10, 128)), /'descr': '<f4', 'fortran_order': False, 'shape': \(2, 3\)/)
        assert.deepEqual([...new Float32Array(npy.slice(128).buffer)], [1, 2, 3, 4, 5, 6.5])
        assert.match(await person.textOf('.overview .data'), /1, 2, 3, 4, 5, 6.5/)
      }
      assert.deepEqual(person.complaints, [])
      await person.close()
    })
  }

  it('opens a model in ONNX’s syntax', async () => {
    const person = await opened('network.onnxtxt', env.format(small, 'ModelProto', 'onnxtxt'))
    await person.has(1, line('dense'))
    await person.has(1, '.overview .fine')
    await person.close()
  })

  it('says where a text is wrong, and lets it be put right', async () => {
    const text = env.format(small, 'ModelProto', 'textproto')
    const person = await opened('broken.textproto', text.replace('op_type: "MatMul"', 'op_type: 7'), { first: '.text .line:first-child' })
    await person.has(1, '.overview .finding')
    await person.has(0, '.tree')
    await person.has(1, '.text .line:has-text("op_type: 7")')
    await person.page.click('.text-note button:text-is("Edit")')
    await person.page.click('.edited .cm-content')
    await person.page.keyboard.press('Control+a')
    await person.page.keyboard.insertText(text)
    await person.page.click('.text-editor .primary')
    await person.page.click('.document .tabs [role=tab]:has-text("Tree")')
    await person.has(1, line('dense'))
    await person.has(1, '.overview .fine')
    await person.close()
  })

  it('says what is wrong with a file that is cut off, and with one that is nothing of ONNX', async () => {
    const person = await opened('cut.onnx', small.subarray(0, small.length - 9), { first: '.overview .finding' })
    await person.has(1, '.overview .finding:has-text("wire.")')
    await person.choose(written('noise.onnx', Uint8Array.from({ length: 200 }, (_, i) => i * 7 % 256 | 1)))
    await person.has(1, '.document h2:text-is("noise.onnx")')
    await person.has(0, '.tree')
    await person.has(1, '.overview .finding')
    await person.close()
  })

  it('opens 100,000 nodes with few of them in the page, reaches the last one and finds one in the middle', async () => {
    const person = await opened('chain.onnx', chain(100_000))
    await person.has(1, line('layer/node_0'))
    await person.has(1, '.overview .fine')
    const rows = () => person.page.locator('.tree .line').count()
    assert.ok(await rows() < 120, `${await rows()} rows`)
    await person.page.focus('.tree')
    await person.page.keyboard.press('End')
    await person.has(1, `${active}:has-text("layer/node_99999")`)
    assert.ok(await rows() < 120)
    await find(person, 'op:Abs', '1 of 100')
    await find(person, 'layer/node_54321', '1 of 1')
    await person.has(1, `${active}[aria-posinset="54322"] .type:text-is("tensor(float) [8]")`)
    await person.page.click('.document .tabs [role=tab]:has-text("JSON")')
    await person.has(1, '.text-note:has-text("Too large to be changed")')
    await find(person, 'layer/node_54321', '1 of 1')
    await person.has(1, '.text .marked:has-text("layer/node_54321")')
    assert.ok(await person.page.locator('.text .line').count() < 120)
    await person.close()
  })

  it('says how far reading and checking are', async () => {
    const person = await pages.open()
    await person.page.evaluate(() => {
      window.notes = new Set()
      new MutationObserver(() => { for (const note of document.querySelectorAll('.overview .note')) window.notes.add(note.textContent) }).observe(document.body, { childList: true, subtree: true, characterData: true })
    })
    await person.choose(written('long.onnx', chain(100_000)))
    await person.has(1, '.overview .fine')
    const notes = await person.page.evaluate(() => [...window.notes])
    const parts = notes.map(note => Number(/^Checking … (\d+) %Cancel$/.exec(note)?.[1])).filter(part => part > 0)
    assert.ok(parts.length > 0 && parts.every((part, i) => i === 0 || part > parts[i - 1]), notes.join('; '))
    assert.deepEqual(person.complaints, [])
    await person.close()
  })

  it('opens 100 MB of weights, leaves them out of the texts and says so', async () => {
    const path = join(folder, 'large.onnx')
    const size = writeLargeModel(path, { inside: 25, elements: 1_000_000 })
    assert.ok(size > 100e6)
    const person = await pages.open()
    await person.page.evaluate(() => {
      window.notes = new Set()
      new MutationObserver(() => { for (const note of document.querySelectorAll('.overview .note')) window.notes.add(note.textContent) }).observe(document.body, { childList: true, subtree: true, characterData: true })
    })
    await person.choose(path)
    await person.has(1, '.document .facts:has-text("25 initializers")')
    const notes = await person.page.evaluate(() => [...window.notes])
    assert.ok(notes.some(note => /^Reading … \d+ %Cancel$/.test(note)), notes.join('; '))
    await person.has(1, '.overview .fine')
    await find(person, 'w24', '1 of 2')
    await person.page.click('.document .tabs [role=tab]:has-text("Text")')
    await person.has(1, '.text-note:has-text("The data of 25 tensors (95.4 MB) are left out here")')
    await person.page.click('.document .tabs [role=tab]:has-text("Tree")')
    await find(person, 'op:Add', '1 of 25')
    const { bytes } = await saved(person, 'protobuf)')
    assert.equal(bytes.length, size)
    assert.deepEqual(person.complaints, [])
    await person.close()
  })

  it('cuts names that are no names, and opens graphs in graphs', async () => {
    const long = 'n'.repeat(1_000_000)
    let inner = graph({ name: 'deepest', nodes: [node('Relu', [long], [long])] })
    for (let depth = 0; depth < 40; depth++) inner = graph({ name: `g${depth}`, nodes: [node('If', ['c'], ['r'], { then_branch: { graph: inner }, else_branch: { graph: graph({}) } }, { name: `at ${depth}` })] })
    const person = await opened('odd.onnx', model({ nodes: [node('If', ['c'], ['r'], { then_branch: { graph: inner }, else_branch: { graph: graph({}) } }, { name: long })] }))
    await find(person, 'op:relu', '1 of 1')
    await person.has(1, `${active}:has-text("Relu")`)
    await person.has(1, '.details .path')
    assert.ok(await person.page.evaluate(() => document.querySelector('.document .parts').textContent.length) < 100_000)
    await person.close()
  })

  it('reads the data of a model from the files that came with it', async () => {
    const bytes = model({ nodes: [node('Add', ['x', 'w'], ['y'])], initializers: [onnx.externalTensor('w', 'float32', [2], 'w.bin')], inputs: [value('x', 'float32', [2])], outputs: [value('y', 'float32', [2])] })
    const person = await pages.open()
    await person.choose(written('external.onnx', bytes), written('w.bin', new Uint8Array(Float32Array.of(1.5, 2.5).buffer)))
    await person.has(1, '.overview .fine')
    await find(person, 'name:w', '1 of 1')
    await person.has(1, '.details dd:has-text("1.5, 2.5")')
    await person.page.click('.run-model button')
    await person.has(1, '.overview caption:has-text("ms")')
    await person.close()
  })

  it('reads a tensor from the file that came with it', async () => {
    const person = await pages.open()
    const [tensor, data] = [written('external.pb', onnx.externalTensor('w', 'float32', [2], 'w.bin')), written('w.bin', new Uint8Array(Float32Array.of(1.5, 2.5).buffer))]
    await person.choose(tensor, data)
    await person.has(1, '.overview .fine:has-text("Nothing is wrong with this tensor.")')
    await person.has(1, '.overview .data:has-text("1.5, 2.5")')
    await person.choose(tensor, written('v.bin', new Uint8Array(8)))
    await person.has(1, '.overview .findings:has-text("is not there")')
    assert.deepEqual(person.complaints, [])
    await person.close()
  })

  it('runs a model on values of files and of texts, and on random ones', async () => {
    const person = await opened('network.onnx', small)
    const answer = '.overview table:has(caption) td.data'
    const feed = name => `.feeds tr:has(th code:text-is("${name}"))`
    const values = async (name, label) => {
      await person.page.click(`${feed(name)} button`)
      await person.page.click(`.menu button:has-text("${label}")`)
    }
    const text = async (name, words) => {
      await values(name, 'As text')
      await person.page.fill('dialog input', words)
      await person.page.click('dialog button.primary')
    }
    await person.has(1, `${feed('flag')} .quiet`)
    await text('flag', 'true')
    await person.has(1, `${feed('flag')} code:text-is("true")`)
    await text('x', '[[1, 0], 2]')
    await person.has(1, 'dialog .problem:has-text("do not stand side by side")')
    await person.page.fill('dialog input', '[[1, 0, 0], [0, 1, -0.5]]')
    await person.page.click('dialog button.primary')
    await person.has(0, '.feeds .quiet')
    await person.page.click('.run-model button:text-is("Run")')
    await person.has(1, answer)
    assert.equal(await person.textOf(answer), '-0, -0.125, -0.25, -0.375, -0, -0.0625, -0.125, -0.1875')
    const chooser = person.page.waitForEvent('filechooser')
    await values('x', 'From a file')
    await (await chooser).setFiles([written('ones.pb', tensor('x', 'float32', [1, 3], Float32Array.of(0, 0, 1)))])
    await person.has(1, `${feed('x')} code:text-is("ones.pb")`)
    await person.page.click('.run-model button:text-is("Run")')
    await person.has(1, `${answer}:has-text("-1, -1.125, -1.25, -1.375")`)
    const wrong = person.page.waitForEvent('filechooser')
    await values('x', 'From a file')
    await (await wrong).setFiles([written('wrong.pb', Uint8Array.of(1, 2, 3))])
    await person.has(1, '.notice:has-text("no value for this input")')
    await values('x', 'Random numbers')
    await person.has(1, `${feed('x')} .quiet`)
    await person.close()
  })

  it('stands beside the bundle when the person wants that', async () => {
    const person = await opened('network.onnx', small)
    assert.equal(await person.page.isVisible('#source'), false)
    await person.page.click('.document .tools [data-key=width]')
    assert.equal(await person.page.isVisible('#source'), true)
    await person.show('findings')
    assert.equal(await person.page.isVisible('#source'), true)
    await person.close()
  })

  it('fits a phone: one thing at a time, nothing wider than the screen', async () => {
    const person = await opened('network.onnx', small, { first: '.overview .fine', viewport: { width: 360, height: 700 }, isMobile: true, hasTouch: true })
    await person.has(1, '.overview .fine')
    for (const label of ['Overview', 'Tree', 'JSON', 'Text', 'ONNX syntax']) {
      await person.page.click(`.document .tabs [role=tab]:has-text("${label}")`)
      if (label === 'Tree') await person.page.click(line('dense'))
      await person.has(1, { Overview: '.overview:visible', Tree: '.details .path' }[label] ?? '.text .line:first-child', label)
      assert.equal(await person.page.evaluate(() => document.documentElement.scrollWidth), 360, label)
      assert.equal(await person.page.isVisible('.overview'), label === 'Overview')
    }
    await person.close()
  })

  for (const colorScheme of ['light', 'dark']) {
    it(`has readable text when the system is ${colorScheme}`, async () => {
      const wrong = model(wrongNetwork)
      const person = await opened('wrong.onnx', wrong, { colorScheme })
      await person.has(1, '.overview .finding')
      await person.page.click('.overview .finding .row')
      await person.has(1, '.details .here')
      assert.deepEqual(await person.page.evaluate(lowContrast), [])
      await person.page.click('.document .tabs [role=tab]:has-text("JSON")')
      await person.page.fill('.finder input', 'relu')
      await person.has(1, '.text .marked')
      assert.deepEqual(await person.page.evaluate(lowContrast), [])
      await person.close()
    })
  }

  it('opens without a network and asks for nothing', async () => {
    const person = await pages.open()
    await person.page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name, initiatorType }) => initiatorType === 'fetch' && /worker/.test(name)))
    await person.ran() // in the frame for kernels, which loads its script, too
    await person.page.context().setOffline(true)
    const before = person.requests.length
    await person.drop('network.onnx', small)
    await person.has(1, line('dense'))
    await person.has(1, '.overview .fine')
    assert.deepEqual(person.requests.slice(before).filter(url => !/^(data|blob):/.test(url)), [])
    await person.close()
  })
})
