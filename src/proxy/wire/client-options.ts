import type { ChannelOptions } from '@grpc/grpc-js';
import { DEFAULT_MAX_MESSAGE_BYTES } from './handled-stream.ts';

/** What a server takes ahead on a connection. */
export const DEFAULT_SERVER_WINDOW_BYTES = 16 * 1024 * 1024;
/**
 * What both ends of a link take ahead: twice what a link's own window may reach, because Node gives an HTTP/2 window
 * back by halves, and a long path would wait for the second one.
 */
export const LINK_HTTP2_WINDOW_BYTES = 32 * 1024 * 1024;

/**
 * What a client takes ahead on a connection. It must fit into the kernel's buffers of one connection (4 MiB less
 * overhead, by Linux' tcp_wmem): Node reads nothing from an HTTP/2 connection while a write to it is not complete, so
 * two Node processes that both have more in flight than the kernel takes wait for each other for ever. One direction
 * that always fits keeps the other going; it is this one, since the bulk comes from the nodes. (Agents take more: their
 * links see to it, see LinkPace.)
 */
export const DEFAULT_CLIENT_WINDOW_BYTES = 2 * 1024 * 1024;

export interface ClientOptions {
  /** HTTP/2 flow control window of connection and stream. A Unix socket to one of our servers wants 64 KiB. */
  readonly windowBytes?: number;
  readonly maxMessageBytes?: number;
  /** HTTP/2 pings while nothing else comes; none without. */
  readonly keepaliveTimeMs?: number;
  readonly keepaliveTimeoutMs?: number;
  /** Also ping while no call is open. */
  readonly keepaliveWithoutCalls?: boolean;
  /** Pauses between attempts to connect. */
  readonly initialBackoffMs?: number;
  readonly maxBackoffMs?: number;
}

/** The channel options that every gRPC client of this project needs; merge others over them. */
export function clientOptions(options: ClientOptions = {}): ChannelOptions {
  return {
    'grpc-node.flow_control_window': options.windowBytes ?? DEFAULT_CLIENT_WINDOW_BYTES,
    'grpc.max_receive_message_length': options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': -1,
    // Clients of one address would share a connection: an agent behind a load balancer would never reach the others.
    'grpc.use_local_subchannel_pool': 1,
    // The retry buffer copies itself for every message, so that sending gets quadratic.
    'grpc.per_rpc_retry_buffer_size': 0,
    'grpc.enable_retries': 0,
    'grpc.service_config_disable_resolution': 1,
    'grpc.enable_http_proxy': 0,
    'grpc.enable_channelz': 0,
    ...given('grpc.keepalive_time_ms', options.keepaliveTimeMs),
    ...given('grpc.keepalive_timeout_ms', options.keepaliveTimeoutMs),
    ...given('grpc.keepalive_permit_without_calls', options.keepaliveWithoutCalls === true ? 1 : undefined),
    ...given('grpc.initial_reconnect_backoff_ms', options.initialBackoffMs),
    ...given('grpc.max_reconnect_backoff_ms', options.maxBackoffMs),
  };
}

function given(name: string, value: number | undefined): ChannelOptions {
  return value === undefined ? {} : { [name]: value };
}
