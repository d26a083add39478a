import js from '@eslint/js'
import globals from 'globals'

const style = {
  'semi': ['error', 'never', { beforeStatementContinuationChars: 'always' }],
  'quotes': ['error', 'single', { avoidEscape: true, allowTemplateLiterals: true }],
  'indent': ['error', 2, { SwitchCase: 1, offsetTernaryExpressions: true, ignoredNodes: ['TemplateLiteral *', 'ConditionalExpression'] }],
  'comma-dangle': ['error', 'never'],
  'eqeqeq': ['error', 'always', { null: 'ignore' }],
  'prefer-const': 'error',
  'no-var': 'error',
  'no-eval': 'error',
  'no-implied-eval': 'error',
  'no-new-func': 'error',
  'no-control-regex': 'off',
  'no-unused-vars': ['error', { argsIgnorePattern: '^_', caughtErrors: 'none' }]
}

export default [
  { ignores: ['build/', 'dist/', 'web/dist/', 'wasm/js/', '**/*.ts', 'tests/fuzz/corpus/'] },
  js.configs.recommended,
  { rules: style, linterOptions: { reportUnusedDisableDirectives: 'error' } },
  { files: ['wasm/src/**'], languageOptions: { globals: { ...globals['shared-node-browser'] } } },
  { files: ['wasm/toolchain/**', 'specs/**', 'tests/**', 'wasm/src/{cli,node}*.js', 'wasm/src/{cli,node}*/**', '*.js'], languageOptions: { globals: globals.node } },
  { files: ['web/**', 'tests/browser/**'], languageOptions: { globals: { ...globals.browser, ...globals.worker } } }
]
