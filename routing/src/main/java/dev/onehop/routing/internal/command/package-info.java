/**
 * A client's commands and what routes them: {@link
 * dev.onehop.routing.internal.command.CommandRouter} stands behind a connection of the virtual
 * mongos, whichever servers it sends them to.
 */
@NullMarked
package dev.onehop.routing.internal.command;

import org.jspecify.annotations.NullMarked;
