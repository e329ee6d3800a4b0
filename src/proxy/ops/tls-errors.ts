import { Fault } from './fault.ts';
import type { FaultCode } from './fault-code.ts';
import { certificateNames, errorText, type TlsReason, tlsReason } from './tls-reason.ts';

/**
 * Why our connection to a server failed, who refused whom, and what to do. `error` is an Error or the text of one
 * (the details of a gRPC status). `server` is the address as the user knows it. A Fault passes unchanged.
 */
export function connectFault(error: unknown, server: string): Fault {
  if (error instanceof Fault) return error;
  // grpc-js' words for a server that closed before HTTP/2 began, as one does that refuses our certificate.
  const known =
    typeof error === 'string' && error.includes('Failed to connect') ? 'connection closed' : error;
  const [code, what, remedy] = describeConnect(tlsReason(known), known, server);
  return new Fault(code, what, remedy, error);
}

/**
 * Why a client's handshake with us failed. Node says of a client certificate that it refused only `socket hang up`;
 * the real reason is in the socket's `authorizationError`. Who the client is, the caller logs beside it.
 */
export function handshakeFault(error: unknown, socket?: { readonly authorizationError?: unknown }): Fault {
  if (error instanceof Fault) return error;
  const refusal = socket?.authorizationError;
  const reason = tlsReason(refusal ?? error);
  const [code, what, remedy] = describeHandshake(reason, refusal ?? error);
  return new Fault(code, what, remedy, error);
}

type Words = readonly [code: FaultCode, what: string, remedy: string];

function describeConnect(reason: TlsReason, error: unknown, server: string): Words {
  const refuse = `we refuse the certificate of ${server}`;
  const refused = `${server} refuses our client certificate`;
  switch (reason) {
    case 'bad-expired':
      return ['server-certificate-expired', `${refuse}: it has expired`, 'renew it on the server'];
    case 'bad-not-yet-valid':
      return [
        'server-certificate-not-yet-valid',
        `${refuse}: it is not valid yet`,
        'compare the clocks of both machines',
      ];
    case 'bad-name': {
      const names = certificateNames(error);
      const has = names === undefined ? 'it is for other names' : `it is for ${names}`;
      return [
        'server-certificate-name',
        `${refuse}: ${has}`,
        'use one of its names, or have a certificate made for this one',
      ];
    }
    case 'bad-purpose':
      return [
        'server-certificate-purpose',
        `${refuse}: it is not made for servers`,
        'it needs the usage serverAuth',
      ];
    case 'bad-weak':
      return [
        'server-certificate-weak',
        `${refuse}: its key or signature is too weak`,
        'have a stronger one made',
      ];
    case 'bad-unknown-ca':
    case 'bad-missing':
      return [
        'server-certificate-unknown-ca',
        `${refuse}: no CA in our bundle signed it (${errorText(error)})`,
        'give the CA that signed it',
      ];
    case 'alert-required':
      return [
        'client-certificate-required',
        `${server} wants a client certificate, and we have none`,
        'give one',
      ];
    case 'alert-expired':
      return ['client-certificate-expired', `${refused}: it has expired`, 'renew it'];
    case 'alert-unknown-ca':
      return [
        'client-certificate-unknown-ca',
        `${refused}: no CA in its bundle signed it`,
        'use a certificate of the CA that the server trusts',
      ];
    case 'alert-certificate':
      return [
        'client-certificate-refused',
        `${refused} (${errorText(error)})`,
        "see the server's log for the reason",
      ];
    case 'version':
      return [
        'tls-version',
        `no TLS version is allowed by both us and ${server}`,
        'compare the minimum versions',
      ];
    case 'cipher':
      return [
        'tls-cipher',
        `${server} and we have no cipher in common`,
        'compare the cipher lists and the key types',
      ];
    case 'alpn':
      return [
        'tls-alpn',
        `${server} speaks none of the protocols we offer`,
        'check that this is the right port',
      ];
    case 'not-tls':
      return ['not-tls', `${server} does not speak TLS`, 'check that this is the right port'];
    case 'handshake-timeout':
    case 'timeout':
      return [
        'connection-timeout',
        `${server} does not answer`,
        'check the address and what filters on the way',
      ];
    case 'refused':
      return [
        'connection-refused',
        `nothing listens on ${server}`,
        'check the address, and that the server runs',
      ];
    case 'reset':
      return [
        'connection-reset',
        `${server} closed the connection (${errorText(error)})`,
        "if this repeats, it may refuse our certificate: see the server's log",
      ];
    case 'unreachable':
      return ['host-unreachable', `there is no way to ${server} (${errorText(error)})`, 'check the network'];
    case 'no-such-host':
      return ['host-not-found', `the name in ${server} cannot be resolved`, 'check the name and the DNS'];
    case 'no-such-socket':
      return ['socket-missing', `${server} does not exist`, 'check the path, and that the server runs'];
    case 'not-permitted':
      return ['connection-not-permitted', `no permission to connect to ${server}`, 'check owner and mode'];
    case 'descriptors':
      return ['out-of-descriptors', `no file descriptor is left to connect to ${server}`, 'raise the limit'];
    case 'other':
      return ['connection-failed', `the connection to ${server} failed: ${errorText(error)}`, ''];
    default:
      return reason satisfies never;
  }
}

function describeHandshake(reason: TlsReason, error: unknown): Words {
  const refuse = "we refuse the client's certificate";
  const refused = 'the client refuses our certificate';
  switch (reason) {
    case 'bad-missing':
      return ['client-certificate-required', 'the client sent no certificate, and one is needed', ''];
    case 'bad-expired':
      return ['client-certificate-expired', `${refuse}: it has expired`, 'renew it on the client'];
    case 'bad-not-yet-valid':
      return [
        'client-certificate-not-yet-valid',
        `${refuse}: it is not valid yet`,
        'compare the clocks of both machines',
      ];
    case 'bad-purpose':
      return [
        'client-certificate-purpose',
        `${refuse}: it is not made for clients`,
        'it needs the usage clientAuth',
      ];
    case 'bad-weak':
      return [
        'client-certificate-weak',
        `${refuse}: its key or signature is too weak`,
        'have a stronger one made',
      ];
    case 'bad-unknown-ca':
    case 'bad-name':
      return [
        'client-certificate-unknown-ca',
        `${refuse}: no CA in our bundle signed it (${errorText(error)})`,
        'use a certificate of the CA given here',
      ];
    case 'alert-unknown-ca':
      return ['server-certificate-unknown-ca', `${refused}: its CA bundle does not know the signer`, ''];
    case 'alert-expired':
      return ['server-certificate-expired', `${refused}: it has expired`, 'renew it'];
    case 'alert-required':
    case 'alert-certificate':
      return [
        'server-certificate-refused',
        `${refused} (${errorText(error)})`,
        'its names or its signer may not fit',
      ];
    case 'version':
      return [
        'tls-version',
        'no TLS version is allowed by both the client and us',
        'compare the minimum versions',
      ];
    case 'cipher':
      return ['tls-cipher', 'the client and we have no cipher in common', ''];
    case 'alpn':
      return [
        'tls-alpn',
        'the client offers no protocol that this port speaks',
        'check that it dials the right port',
      ];
    case 'not-tls':
      return ['not-tls', 'the client does not speak TLS', 'check that it dials the right port'];
    case 'handshake-timeout':
    case 'timeout':
      return ['handshake-timeout', 'the client did not finish the TLS handshake in time', ''];
    case 'reset':
      return ['connection-reset', 'the client closed the connection in the TLS handshake', ''];
    case 'refused':
    case 'unreachable':
    case 'no-such-host':
    case 'no-such-socket':
    case 'not-permitted':
    case 'descriptors':
    case 'other':
      return ['handshake-failed', `the TLS handshake failed: ${errorText(error)}`, ''];
    default:
      return reason satisfies never;
  }
}
