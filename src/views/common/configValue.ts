import { EventEmitter, workspace } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { SETTING_VALUES, SETTINGS_SECTION, type Settings } from './contributions.ts';

/** One setting whose value follows the settings editor. Classes get this, never `getConfiguration`. */
export class ConfigValue<K extends keyof Settings> implements Disposable {
  private readonly key: K;
  private readonly fallback: Settings[K];
  private readonly changeEmitter = new EventEmitter<Settings[K]>();
  readonly onDidChange = this.changeEmitter.event;
  private readonly listener: Disposable;
  private current: Settings[K];

  constructor(key: K, fallback: Settings[K]) {
    this.key = key;
    this.fallback = fallback;
    this.current = this.read();
    this.listener = workspace.onDidChangeConfiguration(event => {
      if (event.affectsConfiguration(`${SETTINGS_SECTION}.${key}`)) {
        this.current = this.read();
        this.changeEmitter.fire(this.current);
      }
    });
  }

  get value(): Settings[K] {
    return this.current;
  }

  dispose(): void {
    this.listener.dispose();
    this.changeEmitter.dispose();
  }

  private read(): Settings[K] {
    const value = workspace.getConfiguration(SETTINGS_SECTION).get<unknown>(this.key);
    // A hand-written settings.json may contain anything.
    const isKnown = SETTING_VALUES[this.key]?.includes(value as Settings[K]) ?? true;
    return isKnown && typeof value === typeof this.fallback
      ? (value as Settings[K])
      : this.fallback;
  }
}
