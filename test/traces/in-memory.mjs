import { writeFileSync } from 'node:fs'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'

/*
 * Preloaded into the program (node --import): the OpenTelemetry SDK with its in-memory exporter.
 * When the process ends, its spans are written as JSON to SPANS_FILE.
 */

const exporter = new InMemorySpanExporter()
const sdk = new NodeSDK({
  autoDetectResources: false,
  spanProcessors: [new SimpleSpanProcessor({ exporter })],
})
sdk.start()
if (process.env.INSTRUMENT_UNDICI) {
  registerInstrumentations({ instrumentations: [new UndiciInstrumentation()] })
}

process.on('exit', () => {
  const spans = exporter.getFinishedSpans().map((span) => ({
    name: span.name,
    kind: span.kind,
    traceId: span.spanContext().traceId,
    spanId: span.spanContext().spanId,
    parentId: span.parentSpanContext?.spanId,
    attributes: span.attributes,
    status: span.status,
    links: span.links.map(({ context }) => context.traceId),
  }))
  writeFileSync(process.env.SPANS_FILE, JSON.stringify(spans))
})
