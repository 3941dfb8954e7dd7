package dev.onehop.routing.internal.transport;

/** How a simulated lane authenticates. */
enum Credentials {
  NONE,
  /** In two steps, the first one with the hello where the socket is new. */
  SCRAM,
  /** The same under the strict stable API, which allows one authentication for each socket. */
  STRICT_SCRAM,
  /** With the hello, or in one step. */
  X509,
  /** In one step after the hello, which says nothing of it. */
  PLAIN
}
