/** Links: listeners that delay traffic by the distance between two hosts. */
@NullMarked
package dev.onehop.testbed.internal.link;

import org.jspecify.annotations.NullMarked;
