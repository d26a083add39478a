// The editor's look. All colours are the page's custom properties, so that dark and light need no second theme.
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags as t } from '@lezer/highlight'

const view = EditorView.theme({
  '&': { height: '100%', fontSize: '13px', color: 'var(--text)', backgroundColor: 'var(--paper)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px' },
  '.cm-content': { caretColor: 'var(--accent)', padding: '8px 0' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--selection)' },
  '.cm-gutters': { backgroundColor: 'var(--paper)', color: 'var(--faint)', border: 'none', paddingLeft: '4px' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '28px', padding: '0 8px 0 4px' },
  '.cm-foldGutter .cm-gutterElement': { color: 'var(--faint)' },
  '.cm-activeLine': { backgroundColor: 'var(--line-soft)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--line-soft)', color: 'var(--text)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)', outline: '1px solid var(--rule)' },
  '.cm-searchMatch': { backgroundColor: 'var(--mark)' },
  '.cm-searchMatch-selected': { outline: '1px solid var(--accent)' },
  '.cm-selectionMatch': { backgroundColor: 'var(--accent-soft)' },
  '.cm-panels': { backgroundColor: 'var(--ground)', color: 'var(--text)', borderColor: 'var(--rule)', fontFamily: 'var(--sans)' },
  '.cm-textfield': { backgroundColor: 'var(--paper)', border: '1px solid var(--rule)', borderRadius: '4px', color: 'inherit' },
  '.cm-button': { backgroundImage: 'none', backgroundColor: 'var(--paper)', border: '1px solid var(--rule)', borderRadius: '4px', color: 'inherit' },
  '.cm-tooltip': { backgroundColor: 'var(--float)', color: 'var(--text)', border: '1px solid var(--rule)', borderRadius: '6px', boxShadow: 'var(--shadow)', overflow: 'hidden', maxWidth: '520px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '240px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px', lineHeight: '20px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-completionInfo': { padding: '8px 12px', fontFamily: 'var(--sans)', maxWidth: '320px' },
  '.cm-completionDetail': { fontStyle: 'normal', opacity: '.7' },
  '.cm-hover': { padding: '8px 12px', fontFamily: 'var(--sans)', lineHeight: '18px' },
  '.cm-hover b': { fontFamily: 'var(--mono)', fontWeight: '600' },
  '.cm-diagnostic': { padding: '8px 12px', fontFamily: 'var(--sans)', lineHeight: '18px', border: 'none', borderLeft: '3px solid var(--info)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--error)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warning)' },
  '.cm-diagnosticAction': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)', borderRadius: '4px', padding: '2px 8px', marginLeft: '8px' },
  '.cm-diagnosticSource': { opacity: '1', color: 'var(--quiet)', fontFamily: 'var(--mono)', fontSize: '12px' },
  '.cm-lintRange': { backgroundImage: 'none', paddingBottom: '1px', textDecoration: 'underline wavy var(--info) 1px', textUnderlineOffset: '3px', textDecorationSkipInk: 'none' },
  '.cm-lintRange-error': { textDecorationColor: 'var(--error)' },
  '.cm-lintRange-warning': { textDecorationColor: 'var(--warning)' },
  '.cm-lintRange-active': { backgroundColor: 'var(--mark)' },
  '.cm-lintPoint:after': { borderBottomColor: 'var(--info)' },
  '.cm-lintPoint-error:after': { borderBottomColor: 'var(--error)' },
  '.cm-lintPoint-warning:after': { borderBottomColor: 'var(--warning)' },
  '.cm-target': { backgroundColor: 'var(--mark)', outline: '1px solid var(--accent)', borderRadius: '2px' },
  '.cm-gutter-lint': { width: '10px' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '7px 1px' },
  '.cm-lint-marker': { width: '6px', height: '6px', borderRadius: '3px', backgroundColor: 'var(--info)' },
  '.cm-lint-marker-error': { content: '""', backgroundColor: 'var(--error)' },
  '.cm-lint-marker-warning': { content: '""', backgroundColor: 'var(--warning)' },
  '.cm-lint-marker-info': { content: '""' }
})

const colours = HighlightStyle.define([
  { tag: [t.propertyName, t.definition(t.propertyName)], color: 'var(--code-name)' },
  { tag: [t.string, t.special(t.string), t.regexp], color: 'var(--code-string)' },
  { tag: [t.number, t.bool, t.null, t.atom], color: 'var(--code-number)' },
  { tag: [t.keyword, t.operatorKeyword, t.modifier, t.controlKeyword, t.definitionKeyword, t.moduleKeyword], color: 'var(--code-keyword)' },
  { tag: [t.comment], color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [t.function(t.variableName), t.function(t.propertyName)], color: 'var(--code-call)' },
  { tag: t.invalid, color: 'var(--error)' }
])

export const look = [view, syntaxHighlighting(colours)]
