import type { BuildOptions } from 'esbuild';

export function bundleOptions(): BuildOptions;

export function operatorBundleOptions(): BuildOptions;

export function screenBundleOptions(): BuildOptions;

export function daemonBundleOptions(): BuildOptions;
