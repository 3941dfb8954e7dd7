/** Direct mode compared with the throughput of a server. */
@NullMarked
package dev.onehop.jmh.direct;

import org.jspecify.annotations.NullMarked;
