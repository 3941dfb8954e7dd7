/**
 * What both modes do with a client's commands: parts of writes, sessions, transactions' servers.
 */
@NullMarked
package dev.onehop.routing.internal.command;

import org.jspecify.annotations.NullMarked;
