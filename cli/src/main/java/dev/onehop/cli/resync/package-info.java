/** {@code onehop resync}: gives a replica set a new member, logically or by copying files. */
@NullMarked
package dev.onehop.cli.resync;

import org.jspecify.annotations.NullMarked;
