/**
 * Which room may import which. A room is a folder under src/, or one file; its own files may import
 * each other. A row names only rooms of earlier rows, so rooms cannot form a circle. Where two rows
 * have a file, the row of the longer name counts. `tools/*` is a room for each file: no tool
 * imports another. `npm run arrows` checks the imports, also those of types alone.
 */
export const mayImport = {
  // They know nothing of the rest.
  text: '',
  json: '',
  jinja: '',
  'contract/answer-status': '',
  contract: 'text json',
  // Interactive views of results: their files, and the programs in them, which run in a browser.
  apps: '',
  'app-views': 'contract/answer-status text json',

  // Pages for people: escaping, style and policy.
  pages: '',

  // What is recorded of requests: log and metrics.
  observe: 'text',

  // The platform: its client, and the sandbox in its place.
  api: 'contract text json',
  'state/private-files': '',
  sandbox: 'contract contract/answer-status jinja state/private-files pages text json',

  // The authorization server: its pages.
  'oauth/pages': 'pages text',

  // Who may be called; placing a call once, and following it.
  state: 'state/private-files contract text json',
  policy: 'state text json',
  calls: 'policy state api contract text json',
  // Who changed what: the audit trail.
  audit: 'calls state api contract text json',

  // Whose request it is; how a result is shown.
  session: 'calls state observe api contract text',
  views: 'contract contract/answer-status text',

  // The MCP server. The service gives it its tools and prompts.
  'mcp/hints': 'session calls api contract text',
  'mcp/call': 'apps mcp/hints views session calls state api contract text json',
  'mcp/protocol':
    'apps mcp/call mcp/hints session audit calls state observe api contract text json',
  'mcp/fast': 'apps mcp/protocol mcp/call session observe json',
  'mcp/mcp-service': 'mcp/fast mcp/protocol mcp/call audit state observe',
  transports: 'mcp/mcp-service mcp/fast mcp/protocol session text json',

  // OAuth for hosted clients: the authorization server beside the MCP server.
  'oauth/guarded-fetch': 'transports',
  oauth: 'oauth/pages pages oauth/guarded-fetch transports session state text json',

  // What the server offers.
  flows:
    'mcp/call mcp/hints views session calls policy state api contract contract/answer-status jinja text json',
  prompts: 'mcp/protocol flows mcp/hints views session api contract text json',
  'tools/*': 'flows views mcp/call contract',
  'tools/index': 'tools/* mcp/call',

  // The program: settings, then the service made of them, then the commands.
  'service/tool-summaries': 'apps tools/index mcp/protocol',
  config: 'service/tool-summaries transports mcp/protocol mcp/call session state observe text json',
  service: [
    'config service/tool-summaries oauth oauth/guarded-fetch transports tools/index prompts flows',
    'mcp/mcp-service mcp/fast mcp/protocol mcp/call session audit calls policy state',
    'state/private-files observe sandbox api contract text json',
  ],
  // Our entry in the configuration files of MCP clients.
  'cli/install': 'config state/private-files text json',
  // A check of everything that a server needs.
  'cli/doctor': 'cli/install service config policy state api contract text json',
  // Tools called from the command line.
  'cli/text-width': 'config',
  'cli/help-layout': 'cli/text-width config',
  'cli/standard-output': '',
  'cli/terminal': [
    'cli/install cli/help-layout cli/standard-output',
    'service service/tool-summaries tools/index config',
    'mcp/protocol mcp/call api contract text json',
  ],
  cli: [
    'cli/install cli/doctor cli/terminal cli/help-layout cli/text-width cli/standard-output',
    'service service/tool-summaries tools/index config transports mcp/fast mcp/protocol mcp/call',
    'session observe sandbox state state/private-files contract pages text',
  ],
  'cli/main': 'cli cli/text-width config',
  bin: 'cli/main cli',

  // Programs of others, which start the built program.
  'docs/examples': '',

  // Tests, and programs for developers. Only bin imports cli/main.
  'test/harness': [
    'apps cli/install',
    'service config oauth tools/index transports mcp/fast mcp/protocol mcp/call session calls policy state sandbox api contract',
    'text json',
  ],
  dev: [
    'apps test/harness cli/install cli service service/tool-summaries config transports tools/index mcp/protocol',
    'flows mcp/call session calls policy state sandbox pages api contract text',
  ],
  test: [
    'apps app-views cli/install cli/doctor cli/terminal',
    'test/harness dev cli service service/tool-summaries config transports tools/index tools/*',
    'prompts flows mcp/mcp-service mcp/fast mcp/protocol mcp/call mcp/hints views session calls',
    'policy audit state state/private-files observe sandbox oauth oauth/pages oauth/guarded-fetch',
    'pages api contract jinja text json',
  ],
} as const
