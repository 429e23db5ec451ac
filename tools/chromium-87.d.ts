// What Chromium 87 has, the oldest browser of the pages, beside the names in @types/web 0.0.1: those that few browsers had in 2021.

interface ParentNode {
  replaceChildren(...nodes: (Node | string)[]): void;
}

interface Element {
  ariaBusy: string | null;
  ariaCurrent: string | null;
  ariaDisabled: string | null;
  ariaKeyShortcuts: string | null;
  ariaLabel: string | null;
  ariaPressed: string | null;
}

interface Document {
  readonly fonts: EventTarget & { readonly ready: Promise<object>; load(font: string, text?: string): Promise<object[]> };
}

// Newer ones: `keysHere` of punto/consoles/pages/security-keys.js is false without them.

interface PublicKeyCredential {
  toJSON(): object;
}

interface PublicKeyOptions {
  parseCreationOptionsFromJSON(options: object): PublicKeyCredentialCreationOptions;
  parseRequestOptionsFromJSON(options: object): PublicKeyCredentialRequestOptions;
}
