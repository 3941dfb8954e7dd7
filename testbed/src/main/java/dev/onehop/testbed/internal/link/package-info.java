/** Links: listeners that hold traffic back by the distance between two hosts. */
@NullMarked
package dev.onehop.testbed.internal.link;

import org.jspecify.annotations.NullMarked;
