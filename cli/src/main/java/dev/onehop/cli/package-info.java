/** The {@code onehop} command: {@code bench}, {@code report}, {@code topology}, {@code explain}. */
@NullMarked
package dev.onehop.cli;

import org.jspecify.annotations.NullMarked;
