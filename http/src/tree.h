/* tree.h: the folders that an app serves. */
#ifndef EDDYI_TREE_H
#define EDDYI_TREE_H

struct eddy_app;

/* Close them. */
void eddyi_trees_close(struct eddy_app *app);

#endif
