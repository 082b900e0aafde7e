import { number, type SettingTexts, settingReader, text } from './setting.ts'

/** The address of the metrics; `undefined`: there are none. */
export interface MetricsConfig {
  readonly metrics: { readonly host: string; readonly port: number } | undefined
}

export const metricsSettings = {
  'metrics-port': number({
    variable: 'VOICE_AGENT_METRICS_PORT',
    value: 'PORT',
    help: 'Port of GET /metrics, for Prometheus; 0 picks a free one.',
    least: 0,
    most: 65_535,
    isWhole: true,
    default: undefined,
    range: '0 to 65535; default: no metrics.',
  }),
  'metrics-host': text({
    variable: 'VOICE_AGENT_METRICS_HOST',
    value: 'HOST',
    help: 'Address to serve metrics on. Whoever reaches it can read them: they have no key.',
    range: 'Default 127.0.0.1, whatever --host is.',
  }),
}

export function metricsConfig(texts: SettingTexts): MetricsConfig {
  const value = settingReader(metricsSettings, texts)
  const port = value('metrics-port')
  if (port === undefined) return { metrics: undefined }
  return { metrics: { host: value('metrics-host') ?? '127.0.0.1', port } }
}
