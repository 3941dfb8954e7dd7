/** Bulk writes by a routed client and by a plain client. */
@NullMarked
package dev.onehop.jmh.bulk;

import org.jspecify.annotations.NullMarked;
