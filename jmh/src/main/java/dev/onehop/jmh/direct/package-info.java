/** Direct mode beside what the servers can do. */
@NullMarked
package dev.onehop.jmh.direct;

import org.jspecify.annotations.NullMarked;
