declare const KONNECTIVITY_TS_VERSION: string | undefined;

/** The version of this build; from sources, which have none baked in, `dev`. */
export const version: string = typeof KONNECTIVITY_TS_VERSION === 'string' ? KONNECTIVITY_TS_VERSION : 'dev';
