import { ThemeColor, ThemeIcon } from 'vscode';

/** @param look name of a codicon, and the id of its color */
export function themeIcon([icon, color]: readonly [icon: string, color?: string]): ThemeIcon {
  return new ThemeIcon(icon, color === undefined ? undefined : new ThemeColor(color));
}
