/** The {@code onehop} command with its subcommands. */
@NullMarked
package dev.onehop.cli;

import org.jspecify.annotations.NullMarked;
