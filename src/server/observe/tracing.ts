import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  ProxyTracerProvider,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type {
  BeginningRequest,
  BeginningTry,
  BeginTry,
  PlatformTry,
  RequestOutcome,
  Tracing,
} from './observer.ts'

/*
 * Traces by OpenTelemetry's semantic conventions for MCP (in development in 2026) and for HTTP
 * clients. Spans go to the OpenTelemetry SDK that the operator attaches (docs/observability.md).
 */

/** Traces for the registered OpenTelemetry SDK; `undefined`: no compatible SDK is registered. */
export function createTracing(version: string): Tracing | undefined {
  if (!hasProvider()) return undefined
  const tracer = trace.getTracer('voice-agent-mcp', version)
  return {
    beginRequest(request) {
      const { parent, linked } = parentOf(request)
      const links = linked ? [{ context: linked }] : []
      const attributes = attributesOf(request)
      const options = { kind: SpanKind.SERVER, attributes, links }
      const span = tracer.startSpan(nameOf(request), options, parent)
      const inSpan = trace.setSpan(parent, span)
      return {
        traceId: trace.isSpanContextValid(span.spanContext())
          ? span.spanContext().traceId
          : undefined,
        run: (work) => context.with(inSpan, work),
        end: (outcome) => end(span, failureOf(outcome)),
      }
    },
    beginTry: (beginning) => beginTry(tracer, beginning),
  }
}

/** True if an OpenTelemetry SDK is registered. Without one, the API's provider does nothing. */
function hasProvider(): boolean {
  const provider = trace.getTracerProvider()
  const nothing = new ProxyTracerProvider().getDelegate()
  return !(provider instanceof ProxyTracerProvider && provider.getDelegate() === nothing)
}

/**
 * Parent context of a request's span: from `_meta`, otherwise the active context (of an
 * instrumented HTTP server), otherwise from the HTTP headers. If `_meta` and the active context
 * both have a span, the active one is added as a link.
 */
function parentOf({ traceContext }: BeginningRequest) {
  const ambient = context.active()
  if (!traceContext) return { parent: ambient }
  const current = trace.getSpanContext(ambient)
  const ofMeta = propagation.extract(ambient, traceContext.meta, metaGetter)
  if (trace.getSpanContext(ofMeta) !== current) return { parent: ofMeta, linked: current }
  if (current) return { parent: ambient }
  return { parent: propagation.extract(ambient, traceContext.header, headerGetter) }
}

const metaGetter = {
  keys: (meta: Readonly<Record<string, unknown>>) => Object.keys(meta),
  get(meta: Readonly<Record<string, unknown>>, name: string) {
    const value = Object.hasOwn(meta, name) ? meta[name] : undefined
    return typeof value === 'string' ? value : undefined
  },
}

const headerGetter = {
  keys: () => propagation.fields(),
  get: (header: (name: string) => string | undefined, name: string) => header(name),
}

function beginTry(tracer: Tracer, beginning: BeginningTry): ReturnType<BeginTry> {
  const { method, path } = beginning
  const active = context.active()
  const options = { kind: SpanKind.CLIENT, attributes: tryAttributes(beginning) }
  const span = tracer.startSpan(`${method} ${path}`, options, active)
  const inSpan = trace.setSpan(active, span)
  return {
    headers: headersFor(inSpan),
    run: (work) => context.with(inSpan.setValue(suppressed, true), work),
    end: (attempt) => end(span, tryFailure(attempt)),
  }
}

/**
 * Tells OpenTelemetry's instrumentations of HTTP clients that the request already has a span and
 * headers. The context key is the one of the OpenTelemetry SDK's `suppressTracing`.
 */
const suppressed = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING')

/** Baggage is not propagated: clients may put user data in it, and the platform is a third party. */
function headersFor(inSpan: Context): Record<string, string> {
  const headers: Record<string, string> = {}
  propagation.inject(propagation.deleteBaggage(inSpan), headers)
  const usable = Object.entries(headers).filter(
    ([name, value]) => /^[\w-]+$/.test(name) && /^[\x20-\x7e]*$/.test(value),
  )
  return Object.fromEntries(usable.map(([name, value]) => [name.toLowerCase(), value]))
}

/** Ends a span. `error`: value of the attribute `error.type`; absent on success. */
function end(
  span: Span,
  { attributes, error }: { readonly attributes: Attributes; readonly error?: string | undefined },
): void {
  span.setAttributes(attributes)
  if (error !== undefined) {
    span.setAttribute('error.type', error)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

/*
 * Span names and attributes, by the semantic conventions. Arguments, results, resource URIs and
 * paths with ids are left out, because they are customer data.
 */

/** `{mcp.method.name} {target}`, such as `tools/call get_agent`. */
const nameOf = ({ method, target }: BeginningRequest): string =>
  target ? `${method} ${target.name}` : method

function attributesOf(request: BeginningRequest): Attributes {
  const { method, target, transport, id, revision, session } = request
  return {
    'mcp.method.name': method,
    ...(target && { [`gen_ai.${target.kind}.name`]: target.name }),
    ...(method === 'tools/call' && { 'gen_ai.operation.name': 'execute_tool' }),
    ...(id !== undefined && { 'jsonrpc.request.id': clientId(id) }),
    ...(revision !== undefined && { 'mcp.protocol.version': clientId(revision) }),
    ...(session !== undefined && { 'mcp.session.id': clientId(session) }),
    'network.transport': transport === 'stdio' ? 'pipe' : 'tcp',
    ...(transport === 'http' && { 'network.protocol.name': 'http' }),
  }
}

/** An id chosen by the client, truncated. */
const clientId = (id: string | number) => String(id).slice(0, 128)

/** True for JSON-RPC error codes that are the server's fault: −32603, and −32000 to −32099. */
const isServerFault = (code: number) => code === -32603 || (code <= -32000 && code >= -32099)

/** True for outcomes of tool calls that are not errors (mcp/tool-calls.ts). */
const isNoError = (outcome: string) => /^(ok|input_required|task|confirmation_\w+)$/.test(outcome)

/** Attributes of the failure of a request. */
function failureOf({ outcome, code }: RequestOutcome) {
  const attributes = {
    'voice_agent_mcp.outcome': outcome,
    ...(code !== undefined && { 'rpc.response.status_code': String(code) }),
  }
  if (code !== undefined)
    return { attributes, error: isServerFault(code) ? String(code) : undefined }
  return { attributes, error: isNoError(outcome) ? undefined : 'tool_error' }
}

function tryAttributes({ operation, method, path, resends, platform }: BeginningTry) {
  const url = URL.parse(platform)
  return {
    'http.request.method': method,
    'url.template': path,
    'voice_agent_mcp.operation': operation,
    'server.address': url?.hostname ?? platform,
    ...(url && { 'server.port': portOf(url), 'url.scheme': url.protocol.slice(0, -1) }),
    ...(resends > 0 && { 'http.request.resend_count': resends }),
  } satisfies Attributes
}

const portOf = ({ port, protocol }: URL) =>
  port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port)

/** Attributes of an ended request to the platform, and its error; `undefined`: a success. */
function tryFailure({ status, requestId, failure }: PlatformTry) {
  const attributes = {
    ...(status !== undefined && { 'http.response.status_code': status }),
    ...(requestId !== undefined && { 'http.response.header.x-request-id': [requestId] }),
  }
  const isStatus = status !== undefined && (failure === undefined || failure === 'rejected')
  const error = isStatus ? (status >= 400 ? String(status) : undefined) : failure
  return { attributes, error }
}
