/**
 * Which folder may import which. A row is a folder under src/, or one file; its own files may import
 * each other. A row names only earlier rows, so folders cannot form a circle, and what is above is
 * not known below. Where two rows have a file, the row of the longer name counts. `npm run imports`
 * checks the imports, also those of types alone.
 */
export const mayImport = {
  // They know nothing of the rest.
  text: '',
  jinja: '',
  'contract/answer-status': '',
  contract: 'text',
  // What every part may record: the log, the metrics and the traces.
  'server/observe': 'text',
  // Pages for people: escaping, style and policy. Views of results: programs that run in a browser.
  'apps/pages': '',
  'apps/browser': 'contract/answer-status text',
  apps: '',

  // The platform: its client, and the sandbox in its place.
  platform: 'server/observe contract text',
  'state/private-files': '',
  sandbox: 'contract contract/answer-status jinja state/private-files apps/pages text',

  // What outlives a request; who may be called; placing a call once, and following it.
  state: 'state/private-files contract text',
  policy: 'state text',
  calls: 'policy state platform contract text',
  // Who changed what: the audit trail.
  'server/audit': 'calls state platform server/observe contract text',
  // What one key has read before.
  'platform/sessions': 'calls state server/observe platform contract text',

  // What tools are made of.
  tool: [
    'apps platform/sessions calls policy state platform',
    'contract contract/answer-status jinja text',
  ],
  // The tools: a folder for each noun, and the list of all.
  'tools/accounts': 'tool platform/sessions platform contract text',
  'tools/agents': 'tool platform/sessions calls platform contract text',
  'tools/calls':
    'tool platform/sessions calls policy state platform contract contract/answer-status text',
  'tools/conversations': 'tool platform/sessions contract text',
  'tools/phone-numbers': 'tool platform/sessions platform contract text',
  'tools/providers': 'tool platform/sessions platform contract text',
  'tools/sip-trunks': 'tool platform/sessions platform contract text',
  'tools/templates': 'tool jinja platform contract text',
  'tools/usage': 'tool platform/sessions platform contract text',
  'tools/index': [
    'tools/accounts tools/agents tools/calls tools/conversations tools/phone-numbers tools/providers',
    'tools/sip-trunks tools/templates tools/usage tool contract',
  ],

  // The MCP server. The composition gives it its tools and prompts.
  mcp: 'apps tool platform/sessions server/audit calls state server/observe platform contract text',
  prompts: 'mcp tool platform/sessions platform contract text',

  // The servers: stdio and HTTP; OAuth for hosted clients, the authorization server beside MCP.
  'server/transports': 'mcp platform/sessions text',
  'oauth/pages': 'apps/pages text',
  'oauth/guarded-fetch': 'server/transports',
  oauth:
    'oauth/pages apps/pages oauth/guarded-fetch server/transports platform/sessions state text',

  // The program: settings, then the service made of them, then the commands.
  'server/tool-summaries': 'apps tools/index mcp',
  'cli/config':
    'server/tool-summaries server/transports mcp tool platform/sessions state state/private-files server/observe text',
  server: [
    'cli/config server/tool-summaries oauth oauth/guarded-fetch server/transports tools/index tools/calls prompts',
    'mcp tool apps platform/sessions server/audit calls policy state',
    'state/private-files server/observe sandbox platform contract text',
  ],
  // The terminal of this process: what is written, asked and read there.
  'cli/terminal/terminal': 'cli/config',
  // Our entry in the configuration files of MCP clients.
  'cli/install': 'cli/terminal/terminal cli/config state/private-files text',
  // A check of everything that a server needs.
  'cli/doctor': 'cli/install server tools/index cli/config policy state platform contract text',
  // Tools called from the command line.
  'cli/terminal': [
    'cli/terminal/terminal',
    'server server/tool-summaries tools/index cli/config',
    'mcp tool platform contract text',
  ],
  cli: [
    'cli/install cli/doctor cli/terminal cli/terminal/terminal',
    'server server/tool-summaries tools/index cli/config server/transports mcp tool',
    'platform/sessions server/observe sandbox policy state state/private-files contract apps/pages text',
  ],
  'cli/main': 'cli cli/config',
  bin: 'cli/main cli',

  // Programs of others, which start the built program.
  'docs/examples': '',

  // Tests, and programs for developers. Only bin imports cli/main.
  'test/harness': [
    'apps cli/install server cli/config oauth tools/index server/transports mcp tool',
    'platform/sessions calls policy state sandbox platform contract text',
  ],
  dev: [
    'apps test/harness cli/install cli server server/tool-summaries cli/config',
    'tools/index tool mcp sandbox apps/pages platform contract text',
  ],
  test: [
    'apps apps/browser apps/pages cli/install cli/doctor cli/terminal cli/terminal/terminal test/harness dev cli server',
    'server/tool-summaries cli/config server/transports server/audit server/observe tools/index tools/accounts',
    'tools/agents tools/calls tools/phone-numbers tools/providers tools/sip-trunks tools/templates tools/usage prompts',
    'mcp tool platform/sessions calls policy state state/private-files sandbox',
    'oauth oauth/pages oauth/guarded-fetch platform contract jinja text',
  ],
} as const
